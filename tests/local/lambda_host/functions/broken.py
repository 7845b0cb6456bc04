"""A Lambda function whose module cannot be loaded."""

raise RuntimeError("no settings")
