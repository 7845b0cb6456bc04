"""Parse a SAM template into the queues, tables, functions and triggers that the local host runs. Pure, apart from reading the file."""
