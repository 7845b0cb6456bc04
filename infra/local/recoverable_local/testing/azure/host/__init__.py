"""Invoke functions as the Functions host and its worker do."""
