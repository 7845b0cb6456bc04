"""What an operator or a CI runs for functions that use recoverable: `errors`, `templates` and `rules`, and the commands on them."""
