"""Parse the resources of a SAM template that the local host runs."""
