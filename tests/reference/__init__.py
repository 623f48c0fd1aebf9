"""The plain reference of the algorithm: slow, short, and written from docs/algorithm.md alone.

Nothing here imports `roughly`; integers are Python integers, sets are sets, and every function
is a transcription of one paragraph of that page. The property tests hold core = reference, and
tests/golden/make.py freezes what the reference says.
"""
