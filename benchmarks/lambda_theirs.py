"""The function of the cold start that is measured: theirs."""

from subjects import SUBJECTS

handler = SUBJECTS["theirs"]()
