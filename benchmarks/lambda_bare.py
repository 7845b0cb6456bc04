"""The function of the cold start that is measured: bare."""

from subjects import SUBJECTS

handler = SUBJECTS["bare"]()
