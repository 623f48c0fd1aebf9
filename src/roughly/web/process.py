"""`python -m roughly.web.process worker|writer`: how the supervisor (serve.py) starts a process.
What is heavy is imported here, once pyarrow has been kept from importing pandas."""

from __future__ import annotations

import sys
from importlib import import_module

from roughly.documents.light_arrow import leave_pandas_out

if __name__ == "__main__":
    leave_pandas_out()
    sys.exit(import_module(f"roughly.web.{sys.argv[1]}").main())
