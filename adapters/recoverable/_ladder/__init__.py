"""Decide about a failed attempt: pure functions and frozen data.

Standard library only, no I/O, no clock, no logging.
"""
