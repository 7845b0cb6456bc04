"""The function of the cold start that is measured: ours."""

from subjects import SUBJECTS

handler = SUBJECTS["ours"]()
