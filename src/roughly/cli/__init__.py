"""The command line: one module per command; each reads its arguments, calls the library, prints."""
