"""Read an error queue, and send its messages back to where they failed: the command `recoverable errors`."""
