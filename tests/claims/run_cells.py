"""Runs the cells of notebooks, every notebook in a fork of one process that has imported already what all of them use.

For each line read, a JSON list of sources, one line is written: for every cell the name of the error it ended with, or
null. A cell that fails does not end the notebook.
"""

import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot  # noqa: E402
import numpy  # noqa: E402, F401
import scipy.special  # noqa: E402, F401
import sympy  # noqa: E402, F401

import shuffledp  # noqa: E402, F401


def errors(sources: list[str]) -> list[str | None]:
    namespace, found = {"__name__": "__main__"}, []
    for source in sources:
        try:
            exec(compile(source, "<cell>", "exec"), namespace)
            found.append(None)
        except Exception as error:
            found.append(type(error).__name__)
    return found


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what cells print
    sys.path.insert(0, "")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            print(json.dumps(errors(json.loads(line))), file=answers, flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            print("null", file=answers, flush=True)


if __name__ == "__main__":
    main()
