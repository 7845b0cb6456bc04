"""What a namespace does with messages: entities, locks, sessions, rules; no wire, and time only as it is given."""
