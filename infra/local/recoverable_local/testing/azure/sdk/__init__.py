"""Offer the Service Bus client of the Azure SDK."""
