"""Exact answers about documents that were sketched before: their text is read again, in windows."""
