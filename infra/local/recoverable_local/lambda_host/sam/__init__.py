"""Reads a SAM template: what the local host runs of it, frozen. Pure but for the reading of the one file."""
