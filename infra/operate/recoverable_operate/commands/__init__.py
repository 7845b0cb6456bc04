"""Offer the verbs of `recoverable errors` on the command line."""
