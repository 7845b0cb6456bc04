"""Store timeouts: the port, what all stores share, and one folder for each store."""
