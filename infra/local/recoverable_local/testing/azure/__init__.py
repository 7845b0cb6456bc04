"""Run Service Bus and Functions in virtual time."""
