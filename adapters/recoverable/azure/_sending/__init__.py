"""Send copies: together with those of other threads, again where that helps, and elsewhere where a queue refuses them."""
