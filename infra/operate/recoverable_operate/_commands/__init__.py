"""Offer the verbs of `recoverable errors` on the command line, one module a verb, and what the verbs share."""
