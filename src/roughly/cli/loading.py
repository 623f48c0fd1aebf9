"""Modules that are loaded without looks at what could be thrown away of them."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """For many imports in a row. They make ten thousands of objects, of which next to none goes,
    and Python would look for cycles among them dozens of times."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
