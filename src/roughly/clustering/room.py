"""How the memory that a run may use is shared.

What must be there for every document comes first: the size and the level of its sketch, where its
probes begin. It grows with the documents, so beyond some number of them a run cannot keep to its
memory, and says so before it begins. Whatever else is as long as the documents are many lies in
files that have no name (roughly.storage.scratch). The rest of the memory is for sorting, joining
and reading, which take what they are given.
"""

from __future__ import annotations

from roughly.errors import ParameterError

# What a clustering, the making of a corpus with its index and tables, and a deduplication hold of
# every document in memory, at most; docs/clustering.md has what it is.
CLUSTERING_BYTES = 12
CORPUS_BYTES = 13
DEDUPLICATION_BYTES = 13


def room_beside(memory_bytes: int, documents: int, document_bytes: int = CLUSTERING_BYTES) -> int:
    """What is left of the memory beside what must be there for every document."""
    return max(memory_bytes - documents * document_bytes, memory_bytes // 2)


def check_room(memory_bytes: int, documents: int, document_bytes: int = CLUSTERING_BYTES) -> None:
    """Raises if so many documents take more than half of the memory by themselves."""
    needed = 2 * documents * document_bytes
    if needed > memory_bytes:
        wanted = -(-needed >> 20)
        raise ParameterError(
            f"memory: not enough for {documents:,} documents: {memory_bytes >> 20:,} MiB, wanted"
            f" {wanted:,} MiB or more",
            hint=f"allow more with --memory {wanted}M",
        )
