"""Hold and deliver the messages of a namespace: entities, locks, sessions, rules; no network, and the clock is an argument."""
