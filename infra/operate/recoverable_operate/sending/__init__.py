"""Send chosen messages of an error queue back, at a rate, canaries first, with a journal."""
