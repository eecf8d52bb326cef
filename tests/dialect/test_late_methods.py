"""Methods of data classes that are made late are Python's, and replace what stood in for them."""

import sys
from dataclasses import FrozenInstanceError, dataclass
from inspect import signature
from types import FunctionType, ModuleType

import pytest

from gawee_dialect.target.description import Memory

TEXT = """
from dataclasses import dataclass

@dataclass(frozen=True, order=True)
class Size:
    '''Without a text, Python writes what the constructor takes.'''

    rows: int
    columns: int = 3
"""


def define(package: str) -> type:
    module = ModuleType(f"{package}.sizes")
    sys.modules[module.__name__] = module
    try:
        exec(TEXT, module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return module.__dict__["Size"]


def test_methods_do_what_those_of_other_packages_do() -> None:
    late, at_once = define("gawee_dialect"), define("elsewhere")

    assert repr(late(2)) == repr(at_once(2)) == "Size(rows=2, columns=3)"
    assert (late(2) == late(2, 3), late(2) == at_once(2), late(2) == late(4)) == (
        True,
        False,
        False,
    )
    assert hash(late(2)) == hash(at_once(2))
    assert late(2) < late(2, 4)
    assert not late(5) < late(2)
    for kind in (late, at_once):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'rows'"):
            setattr(kind(2), "rows", 5)
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'rows'"):
            delattr(kind(2), "rows")


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python makes all methods in one go")
def test_the_first_use_makes_a_method_once() -> None:
    late = define("gawee_dialect")
    before = late.__dict__["__eq__"]

    assert late(2) == late(2)

    assert late.__dict__["__eq__"] is not before
    assert late.__dict__["__eq__"].__code__.co_filename == "<string>"
    assert late.__dict__["__eq__"].__qualname__ == "Size.__eq__"
    assert define("elsewhere").__dict__["__eq__"].__code__.co_filename == "<string>"


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python makes all methods in one go")
def test_the_first_look_makes_a_constructor_once() -> None:
    late, at_once = define("gawee_dialect"), define("elsewhere")
    before = late.__dict__["__init__"]

    assert signature(late) == signature(at_once)

    made = late.__dict__["__init__"]
    assert made is not before
    assert isinstance(made, FunctionType)
    assert made is late.__init__
    assert made.__qualname__ == at_once.__init__.__qualname__ == "Size.__init__"
    assert (late(2).rows, late(2, columns=5).columns) == (2, 5)


def test_a_constructor_is_made_for_a_subclass_that_calls_it() -> None:
    @dataclass(frozen=True)
    class Small(Memory):
        def __init__(self, size: int) -> None:
            super().__init__("L1", size, bandwidth=2.0)

    assert Small(4) == Small(4) != Small(5)
    assert Small(4).size == 4
    with pytest.raises(TypeError, match=r"Size\.__init__\(\) missing 1 required"):
        define("gawee_dialect")()


def test_a_subclass_has_the_method_of_its_base() -> None:
    @dataclass(frozen=True)
    class Slow(Memory):
        latency: float = 0.0

    assert Slow("L1", 5, 2.0) == Slow("L1", 5, 2.0) != Slow("L1", 5, 2.0, 3.0)
    assert Memory("L1", 5, 2.0) == Memory("L1", 5, 2.0)
