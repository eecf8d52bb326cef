"""Runs a file as Python's own command line does: a block of a page, by the process that has the imports."""

import runpy
import sys

if __name__ == "__main__":
    runpy.run_path(sys.argv[1], run_name="__main__")
