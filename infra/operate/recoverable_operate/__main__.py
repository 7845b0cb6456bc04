"""Run the command `recoverable` as `python -m recoverable_operate`."""

import sys

from recoverable_operate._cli import main

sys.exit(main())
