"""Keep messages hidden for a short time at once, for as long as an invocation has them."""
