"""Run the demo on a local Service Bus, with the function in Microsoft's own worker."""
