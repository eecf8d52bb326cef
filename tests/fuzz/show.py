"""Write the damaged input of a number: `python -m tests.fuzz.show READER NUMBER > input`."""

import argparse
import sys
from collections.abc import Sequence

from tests.fuzz.readers import READERS


def main(argv: Sequence[str] | None = None) -> None:
    """Write the input to standard output."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.show", description=__doc__)
    parser.add_argument(
        "reader", choices=READERS, metavar="READER", help=f"of {', '.join(READERS)}"
    )
    parser.add_argument("number", type=int, metavar="NUMBER", help="from 0 on")
    arguments = parser.parse_args(argv)
    sys.stdout.buffer.write(READERS[arguments.reader].damaged(arguments.number))


if __name__ == "__main__":
    main()
