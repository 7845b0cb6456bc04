"""`python -m recoverable` is the command `recoverable`."""

import sys

from recoverable.cli import main

sys.exit(main())
