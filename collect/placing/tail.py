"""The end of what a process writes to a pipe, which is read all the time so that the process never waits."""

import os
from collections import deque

_CHUNK_BYTES = 1 << 16
_DRAIN_CHUNKS = 16


class Tail:
    """The last ``most`` bytes that came from a pipe so far."""

    def __init__(self, descriptor: int, most: int) -> None:
        self.descriptor = descriptor
        self._most = most
        self._chunks: deque[bytes] = deque()
        self._held = 0
        os.set_blocking(descriptor, False)

    def read(self) -> bool:
        """Take what has come; return whether there was anything: at the end of the pipe there is nothing."""
        try:
            chunk = os.read(self.descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        self._chunks.append(chunk)
        self._held += len(chunk)
        while self._held - len(self._chunks[0]) >= self._most:
            self._held -= len(self._chunks.popleft())
        return bool(chunk)

    def drained(self) -> bytes:
        """Return the end with the rest of the pipe, for a bounded time: an escaped process may go on writing."""
        for _ in range(_DRAIN_CHUNKS):
            if not self.read():
                break
        return b"".join(self._chunks)[-self._most :]
