"""Store timeouts in one DynamoDB table."""
