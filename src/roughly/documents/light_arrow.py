"""pyarrow without pandas. With its first array pyarrow imports pandas, if that is installed, to
recognise what pandas makes: a third of a second that neither commands nor services have a use
for."""

from __future__ import annotations

import sys


class _NoPandas:
    """Finds no module, and says of pandas that there is none."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is left out", name=name)


def leave_pandas_out() -> None:
    """Lets pyarrow look for pandas now and not find it. What this process does with pyarrow from
    here on cannot make frames of pandas."""
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _NoPandas)
    try:
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(_NoPandas)
