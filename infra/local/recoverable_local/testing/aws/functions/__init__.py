"""Invoke Lambda functions through their event source mapping."""
