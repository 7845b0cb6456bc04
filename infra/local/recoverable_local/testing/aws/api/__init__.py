"""Offer the SQS API as boto3's client has it."""
