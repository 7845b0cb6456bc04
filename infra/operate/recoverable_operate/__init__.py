"""What an operator or a CI runs for functions that use recoverable: `errors`, `templates` and `rules`, and the commands on them.

`stamp` runs in a function of its own: it makes error copies of dead letters.
"""

from recoverable_operate._stamp import stamp

__all__ = ["stamp"]
