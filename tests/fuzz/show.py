"""Write the damaged input of a number: `python -m tests.fuzz.show READER NUMBER > input`."""

import sys

from tests.fuzz.mutate import mutated
from tests.fuzz.readers import READERS

if __name__ == "__main__":
    reader, number = READERS[sys.argv[1]], int(sys.argv[2])
    sys.stdout.buffer.write(mutated(reader.seeds[number % len(reader.seeds)], number))
