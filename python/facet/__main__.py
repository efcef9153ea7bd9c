"""python -m facet: the command line, see `python -m facet --help`."""

import os
import pathlib
import sys


def main() -> None:
    program = pathlib.Path(__file__).resolve().parent / "bin" / "facet"
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
