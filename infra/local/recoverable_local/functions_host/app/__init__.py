"""Read a Function App's folder: its app settings, host.json and triggers."""
