"""Move stored timeouts to native delivery or to another store."""
