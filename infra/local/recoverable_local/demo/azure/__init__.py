"""The demo on a local Service Bus, its function in Microsoft's own worker."""
