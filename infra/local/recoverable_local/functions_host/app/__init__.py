"""Read a Function App's folder: its settings, host.json and triggers."""
