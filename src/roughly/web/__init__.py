"""The HTTP service of a corpus and its pages; installed with the extra `web`."""
