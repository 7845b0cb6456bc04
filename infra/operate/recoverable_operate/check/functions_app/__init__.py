"""Read `host.json` of a Function App as the Functions host reads it. Pure."""
