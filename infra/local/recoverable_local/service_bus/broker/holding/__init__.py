"""Hold the messages of one entity: their order, locks and sessions."""
