"""Serve SQS and DynamoDB on loopback, and call them."""
