"""Deliver messages as the Service Bus extension of the Functions host does."""
