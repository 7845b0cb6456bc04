"""Serve SQS, SNS and DynamoDB on loopback, and make calls to them."""
