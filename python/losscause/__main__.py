"""`python -m losscause`: the command `losscause`."""

import sys

from losscause._cli import main

sys.exit(main())
