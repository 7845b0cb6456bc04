"""How many attempts each ladder makes: the table that each platform is held to."""

from __future__ import annotations

TABLE = [  # immediate, delayed, attempts (NServiceBus docs, "Recoverability", "Total number of possible retries")
    (0, 0, 1),
    (1, 0, 2),
    (2, 0, 3),
    (3, 0, 4),
    (0, 1, 2),
    (1, 1, 4),
    (2, 1, 6),
    (3, 1, 8),
    (1, 2, 6),
    (2, 2, 9),
    (1, 3, 8),
    (5, 3, 24),
]
