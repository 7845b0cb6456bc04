"""Report what was decided about each message."""
