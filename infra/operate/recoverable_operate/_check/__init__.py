"""Check a template, or what is deployed, by the rules: the command `recoverable check`."""
