"""Simhashes of documents, and what the 2007 paper measures on them.

`simhasher` makes them (features, weights, one document or a batch), `frequency` holds the table
behind tf-idf weights, `stop_words` the words that may be left out; `simhash_file` writes and reads
them; `distribution`, `pair_sample`, `evaluation` and `sensitivity` are the paper's figures.
docs/simhash.md fixes every bit.
"""
