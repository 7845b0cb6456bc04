"""Run a function: its instances, each a process with AWS's runtime client."""
