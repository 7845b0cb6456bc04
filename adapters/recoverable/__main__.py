"""Run the command `recoverable` as `python -m recoverable`."""

import sys

from recoverable.cli import main

sys.exit(main())
