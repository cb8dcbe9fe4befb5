"""Workers of Python's kinds, each with an OpenMP team: `harm_workers.py WAY WORKERS THREADS UNITS LIBRARY`."""

import ctypes
import multiprocessing
import sys


def work(threads: int, units: int, library: str) -> None:
    """Do one worker's share, in a library."""
    ctypes.CDLL(library).work(threads, units)


def main() -> None:
    """Start the workers, and wait for them."""
    way, library = sys.argv[1], sys.argv[5]
    workers, threads, units = map(int, sys.argv[2:5])
    if way == "joblib":
        import joblib

        joblib.Parallel(n_jobs=workers)(joblib.delayed(work)(threads, units, library) for _ in range(workers))
        return
    context = multiprocessing.get_context(way)
    started = [context.Process(target=work, args=(threads, units, library)) for _ in range(workers)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    sys.exit(any(one.exitcode for one in started))


if __name__ == "__main__":
    main()
