"""`python -m roughly` is `roughly`."""

import sys

from roughly.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
