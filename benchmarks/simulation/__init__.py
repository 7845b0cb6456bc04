"""A million failed messages, simulated: what a ladder costs on one to a thousand instances, ours and three others."""
