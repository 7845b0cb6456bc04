"""Move timeouts to scheduled messages of Service Bus."""
