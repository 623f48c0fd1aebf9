"""`python -m roughly` is `roughly`."""

import sys

from roughly.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
