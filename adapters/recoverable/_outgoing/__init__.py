"""Collect what handlers send: snapshots, checks and identities. Nothing here does I/O; an adapter sends once the handler has returned."""
