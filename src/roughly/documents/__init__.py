"""Anything that holds documents, turned into documents: bytes to text, files to bytes."""
