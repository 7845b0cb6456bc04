"""Store timeouts in one SQLite file."""
