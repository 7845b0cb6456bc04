"""Run a function's instances, each in a process with AWS's runtime client."""
