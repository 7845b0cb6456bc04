"""Hold the messages of one entity, with their order, locks and sessions."""
