"""What is fuzzed: every reader by its name, each with seeds that it reads."""

from tests.fuzz.graphs import GRAPHS
from tests.fuzz.passes import PASSES
from tests.fuzz.small_languages import SMALL_LANGUAGES
from tests.fuzz.weights import WEIGHTS

READERS = {reader.name: reader for reader in (*GRAPHS, *WEIGHTS, *SMALL_LANGUAGES, PASSES)}
