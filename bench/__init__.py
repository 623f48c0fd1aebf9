"""Speed, start-up and memory of roughly beside its peers; `python -m bench`, or `make bench`."""
