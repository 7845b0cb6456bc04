"""Serve SQS and DynamoDB on loopback, and make calls to them."""
