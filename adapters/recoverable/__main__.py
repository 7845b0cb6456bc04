"""Run the command `recoverable` as `python -m recoverable`."""

import sys

from recoverable._cli import main

sys.exit(main())
