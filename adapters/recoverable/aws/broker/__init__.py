"""Bound the calls to SQS, read what it answers, and say what follows for copies that it does not take."""
