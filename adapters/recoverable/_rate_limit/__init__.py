"""Attempt one message at a time while all attempts fail, as a circuit breaker does."""
