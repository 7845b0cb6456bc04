"""Store messages in S3 that are too large for the table."""
