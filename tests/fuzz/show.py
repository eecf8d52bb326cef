"""Write the damaged input of a number: `python -m tests.fuzz.show READER NUMBER > input`."""

import sys

from tests.fuzz.readers import READERS

if __name__ == "__main__":
    sys.stdout.buffer.write(READERS[sys.argv[1]].damaged(int(sys.argv[2])))
