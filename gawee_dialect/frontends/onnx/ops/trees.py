"""Ensembles of decision trees (ai.onnx.ml): all trees go down a level at a time.

At each level every tree of every row stands at a node: its feature, threshold and children are
gathered from tables. A leaf is a node whose children are itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.builtin import f32, f64, i32, i64
from xdsl.ir import Attribute, SSAValue

from gawee_dialect.dialect.graph.arithmetic import FloorDivOp, NegOp
from gawee_dialect.dialect.graph.cast import BitcastOp
from gawee_dialect.dialect.graph.elementwise import AddOp, MulOp, SubOp
from gawee_dialect.dialect.graph.indexing import GatherElementsOp, GatherOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, CompareOp, WhereOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.reduction import ReduceMaxOp, ReduceMinOp, ReduceSumOp
from gawee_dialect.dialect.open_size import least
from gawee_dialect.dialect.types import element_type, is_float, tensor_shape
from gawee_dialect.frontends.onnx.model import Array
from gawee_dialect.frontends.onnx.ops.machine_learning import (
    AGGREGATES,
    POST_TRANSFORMS,
    labelled,
    transformed,
)
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.control_flow import Values, recurrence
from gawee_dialect.frontends.op_mapping.emitter import Emitter, part, permuted
from gawee_dialect.frontends.op_mapping.registry import Floats, Ints, Refusal

MODES = {
    **{"BRANCH_LEQ": "le", "BRANCH_LT": "lt", "BRANCH_GTE": "ge", "BRANCH_GT": "gt"},
    **{"BRANCH_EQ": "eq", "BRANCH_NEQ": "ne"},
}
"""Comparisons of a feature with a threshold, in the order of TreeEnsemble's numbers."""

PREDICATES: Sequence[str] = list(MODES.values())
MEMBER = 6
"""TreeEnsemble's number of the question whether a feature is one of several numbers."""

MAX_DEPTH = 256
"""Levels of a tree, each of which is ops of its own."""


@dataclass
class Node:
    """A question, `feature` compared with `threshold`, or a leaf with the votes for targets."""

    feature: int = 0
    threshold: float = 0.0
    predicate: str = ""
    children: tuple[int, int] = (0, 0)
    """The nodes where the answer is yes, and no."""
    nan_is_true: bool = False
    votes: dict[int, float] = field(default_factory=dict[int, float])


@dataclass
class Forest:
    """Nodes of all trees, those that are roots, and how many targets leaves vote for."""

    nodes: list[Node]
    roots: list[int]
    targets: int

    def depth(self) -> int:
        """Return how many questions lead to the deepest leaf; raises Refusal for a circle."""
        depth, reached = 0, set(self.roots)
        while any(self.nodes[index].predicate for index in reached):
            asked = [self.nodes[index] for index in reached]
            reached = {child for each in asked if each.predicate for child in each.children}
            depth += 1
            if depth > MAX_DEPTH:
                raise Refusal(f"expected trees of at most {MAX_DEPTH} levels")
        return depth


def _leaves(emit: Emitter, x: SSAValue, forest: Forest) -> SSAValue:
    """Return the leaf that each row (N x features) comes to in each tree, N x trees."""
    nodes, rows = forest.nodes, tensor_shape(x)[0]
    predicates = sorted({each.predicate for each in nodes if each.predicate})
    place = emit.broadcast(emit.array(np.array(forest.roots), i64), (rows, len(forest.roots)))

    def here(column: Sequence[object], element: object = i64) -> SSAValue:
        table = emit.array(np.array(column), i64 if element is i64 else element_type(x))
        return emit(GatherOp(table, place))

    for _ in range(forest.depth()):
        value = emit(GatherElementsOp(x, here([each.feature for each in nodes]), axis=1))
        threshold = here([each.threshold for each in nodes], f32)
        answer: SSAValue | None = None
        kind = here([predicates.index(each.predicate or predicates[0]) for each in nodes])
        for index, predicate in enumerate(predicates):
            own = emit(CompareOp(value, threshold, predicate=predicate))
            is_own = emit(CompareOp(kind, emit.number(index, i64), predicate="eq"))
            answer = own if answer is None else emit(WhereOp(is_own, own, answer))
        assert answer is not None, "a depth means that there are questions"
        yes = here([_child(nodes, index, 0) for index in range(len(nodes))])
        no = here([_child(nodes, index, 1) for index in range(len(nodes))])
        if any(each.nan_is_true for each in nodes):
            is_nan = emit(CompareOp(value, value, predicate="ne"))
            tracked = here([int(each.nan_is_true) for each in nodes])
            true = emit(CompareOp(tracked, emit.number(1, i64), predicate="eq"))
            answer = emit(WhereOp(is_nan, true, answer))
        place = emit(WhereOp(answer, yes, no))
    return place


def _child(nodes: Sequence[Node], index: int, which: int) -> int:
    return nodes[index].children[which] if nodes[index].predicate else index


def _leaf_bits(forest: Forest) -> "LeafBits | None":
    """Return trees as masks of leaves; None for too many leaves, and for other questions."""
    predicates = {each.predicate for each in forest.nodes if each.predicate}
    if len(predicates) != 1 or not predicates <= {"le", "lt"}:
        return None
    forest.depth()  # refuses circles
    trees: list[list[Question]] = []
    leaves: list[list[int]] = []
    for root in forest.roots:
        asked: list[Question] = []
        ends: list[int] = []
        _in_order(forest.nodes, root, asked, ends)
        if len(ends) > MAX_LEAVES:
            return None
        trees.append(asked)
        leaves.append(ends)
    if not all(each.node.threshold > -np.inf for tree in trees for each in tree):
        return None
    return LeafBits(predicates.pop(), trees, leaves)


MAX_LEAVES = 63
"""Of a tree whose leaves are bits of an integer."""


@dataclass(frozen=True)
class Question:
    """A node, and the bits of the leaves that are left where its answer is no."""

    node: Node
    mask: int


@dataclass(frozen=True)
class LeafBits:
    """Trees whose leaves are numbered from the left, one that a yes leads to before the others.

    Each no strikes out the leaves on its left; the first that is left is where a row ends.
    Lucchese et al., "QuickScorer: A Fast Algorithm to Rank Documents with Additive Ensembles of
    Regression Trees" (2015).
    """

    predicate: str
    trees: Sequence[Sequence[Question]]
    leaves: Sequence[Sequence[int]]
    """The node of each leaf."""

    @property
    def width(self) -> int:
        """How many leaves a tree has at most."""
        return max(map(len, self.leaves))

    @property
    def length(self) -> int:
        """How many questions a tree asks at most."""
        return max(map(len, self.trees))

    def asked(self, count: int) -> Sequence[Sequence[Question | None]]:
        """Return what so many trees ask, all equally often: nothing at the end, and in trees that
        are not there."""
        asked = [[*each, *[None] * (self.length - len(each))] for each in self.trees]
        return [*asked, *[[None] * self.length] * (count - len(asked))]


def _in_order(nodes: Sequence[Node], at: int, asked: list[Question], ends: list[int]) -> None:
    node = nodes[at]
    if not node.predicate:
        ends.append(at)
        return
    first = len(ends)
    if first > MAX_LEAVES:
        return
    _in_order(nodes, node.children[0], asked, ends)
    asked.append(Question(node, ~((1 << len(ends)) - (1 << first))))
    _in_order(nodes, node.children[1], asked, ends)


IN_A_STEP = 128
"""Elements of the answers to one question of each tree of a step: few enough that all that they
are compared with stays in a cache of a core, and whole vectors."""


def _leaf_numbers(emit: Emitter, x: SSAValue, trees: LeafBits) -> SSAValue:
    """Return which leaf of each tree each row (N x features) comes to, trees x N.

    A few trees at a time: what their questions read of the rows is then in a cache when it is read.
    """
    element, (rows, features) = element_type(x), tensor_shape(x)
    # NaN is below all thresholds where it counts as yes.
    is_nan = emit(CompareOp(x, x, predicate="ne"))
    low = emit(WhereOp(is_nan, emit.number(-np.inf, element), x))
    columns = emit(CatOp([permuted(emit, each, (1, 0)) for each in (x, low)], dim=0))
    integer, real, bits, bias = (i32, f32, 23, 127) if trees.width <= 31 else (i64, f64, 52, 1023)
    count = len(trees.trees)
    steps = -(-count // max(IN_A_STEP // max(least(rows), 1), 2))
    together = -(-count // steps)
    asked = trees.asked(steps * together)
    places = [[_place(each, features) for each in tree] for tree in asked]
    limits = [[0.0 if each is None else each.node.threshold for each in tree] for tree in asked]
    masks = [[-1 if each is None else each.mask for each in tree] for tree in asked]

    def sequence(table: Sequence[Sequence[float]], type: Attribute, *last: int) -> SSAValue:
        """Return a table by steps, of which each has the first questions of its trees first."""
        by_trees = np.array(table).reshape(steps, together, trees.length)
        return emit.array(np.swapaxes(by_trees, 1, 2).reshape(steps, -1, *last), type)

    def step(_: Values, now: Values) -> tuple[Values, Values]:
        values = emit(GatherOp(columns, now[0], axis=0))
        left = emit.full((together, rows), -1, integer)
        for index in range(trees.length):
            value, limit, mask = (
                part(emit, each, 0, index * together, together) for each in (values, *now[1:])
            )
            answer = emit(CompareOp(value, limit, predicate=trees.predicate))
            left = emit(WhereOp(answer, left, emit(BitwiseAndOp(left, mask))))
        return (), [left]

    sequences = [sequence(places, i64), sequence(limits, element, 1), sequence(masks, integer, 1)]
    _, (lefts,) = recurrence(emit, step, (), sequences)
    left = part(emit, emit.reshape(lefts, (steps * together, rows)), 0, 0, count)
    first = emit(BitwiseAndOp(left, emit(NegOp(left))))
    power = emit(BitcastOp(emit.cast(first, real), integer))
    exponent = emit(FloorDivOp(power, emit.number(1 << bits, integer)))
    return emit.cast(emit(SubOp(exponent, emit.number(bias, integer))), i64)


def _place(asked: Question | None, features: int) -> int:
    if asked is None:
        return 0
    return asked.node.feature + (features if asked.node.nan_is_true else 0)


def _sums_of_bits(emit: Emitter, x: SSAValue, forest: Forest, trees: LeafBits) -> SSAValue:
    """Return the sum of votes for each target, N x targets."""
    (rows, _), element, count = tensor_shape(x), element_type(x), len(trees.leaves)
    votes = np.zeros((count, trees.width, forest.targets))
    for tree, ends in enumerate(trees.leaves):
        for leaf, at in enumerate(ends):
            for target, weight in forest.nodes[at].votes.items():
                votes[tree, leaf, target] = weight
    voted = np.abs(votes).sum(axis=1).argmax(axis=1)
    is_for_one = (np.count_nonzero(votes.any(axis=1), axis=1) <= 1).all()
    order: list[int] = np.argsort(voted, kind="stable").tolist()
    each = count // forest.targets
    if is_for_one and (np.bincount(voted, minlength=forest.targets) == each).all():
        ordered = LeafBits(
            trees.predicate,
            [trees.trees[index] for index in order],
            [trees.leaves[index] for index in order],
        )
        table = votes[order, :, voted[order]]
        total = _gathered(
            emit, _leaf_numbers(emit, x, ordered), table.ravel(), trees.width, element
        )
        shaped = emit.reshape(total, (forest.targets, each, rows))
        sums = emit(ReduceSumOp(shaped, axes=[1], keep_dims=False))
        return permuted(emit, sums, (1, 0))
    table = votes.reshape(-1, forest.targets)
    found = _gathered(emit, _leaf_numbers(emit, x, trees), table, trees.width, element)
    return emit(ReduceSumOp(found, axes=[0], keep_dims=False))


def _gathered(
    emit: Emitter, leaf: SSAValue, table: Array, width: int, element: Attribute
) -> SSAValue:
    starts = emit.array(np.arange(tensor_shape(leaf)[0])[:, None] * width, i64)
    return emit(GatherOp(emit.array(table, element), emit(AddOp(leaf, starts)), axis=0))


def scores(emit: Emitter, x: SSAValue, forest: Forest, aggregate: str) -> SSAValue:
    """Return what the leaves say of each target together, N x targets."""
    if not is_float(element_type(x)):
        x = emit.cast(x, f32)
    element = element_type(x)
    bits = _leaf_bits(forest) if aggregate in ("SUM", "AVERAGE") else None
    if bits is not None:
        total = _sums_of_bits(emit, x, forest, bits)
        return _shared(emit, total, forest, aggregate)
    place = _leaves(emit, x, forest)
    absent = {"MIN": np.inf, "MAX": -np.inf}.get(aggregate, 0.0)
    table = np.full((len(forest.nodes), forest.targets), absent)
    for row, node in zip(table, forest.nodes, strict=True):
        for target, weight in node.votes.items():
            row[target] = weight
    votes = emit(GatherOp(emit.array(table, element), place))
    if aggregate not in AGGREGATES:
        raise Refusal(f"unsupported aggregate '{aggregate}'; supported: {', '.join(AGGREGATES)}")
    if aggregate in ("MIN", "MAX"):
        op = ReduceMinOp if aggregate == "MIN" else ReduceMaxOp
        return emit(op(votes, axes=[1], keep_dims=False))
    total = emit(ReduceSumOp(votes, axes=[1], keep_dims=False))
    return _shared(emit, total, forest, aggregate)


def _shared(emit: Emitter, total: SSAValue, forest: Forest, aggregate: str) -> SSAValue:
    if aggregate == "AVERAGE":
        return emit(MulOp(total, emit.number(1 / len(forest.roots), element_type(total))))
    return total


@register_op("ai.onnx.ml.TreeEnsemble")
def tree_ensemble(
    emit: Emitter,
    x: SSAValue,
    leaf_targetids: Ints,
    leaf_weights: Array,
    nodes_falseleafs: Ints,
    nodes_falsenodeids: Ints,
    nodes_featureids: Ints,
    nodes_modes: Array,
    nodes_splits: Array,
    nodes_trueleafs: Ints,
    nodes_truenodeids: Ints,
    tree_roots: Ints,
    aggregate_function: int = 1,
    membership_values: Array | None = None,
    n_targets: int = 1,
    nodes_hitrates: Array | None = None,
    nodes_missing_value_tracks_true: Ints = (),
    post_transform: int = 0,
) -> SSAValue:
    """What the leaves of trees say together; questions are comparisons, or membership in a set"""
    count = len(nodes_featureids)
    members = iter(_sets(membership_values))
    tracks = list(nodes_missing_value_tracks_true) or [0] * count
    modes = [int(each) for each in nodes_modes.reshape(-1)]
    splits = [float(each) for each in nodes_splits.reshape(-1)]
    nodes: list[Node] = []
    for index in range(count):
        true, false = (
            ids[index] + (count if leafs[index] else 0)
            for ids, leafs in (
                (nodes_truenodeids, nodes_trueleafs),
                (nodes_falsenodeids, nodes_falseleafs),
            )
        )
        mode, feature = modes[index], nodes_featureids[index]
        predicate = "eq" if mode == MEMBER else PREDICATES[mode]
        nodes.append(Node(feature, splits[index], predicate, (true, false), bool(tracks[index])))
    nodes += [
        Node(votes={target: float(weight)})
        for target, weight in zip(leaf_targetids, leaf_weights.reshape(-1).tolist(), strict=True)
    ]
    for index in range(count):
        if modes[index] == MEMBER:
            _ask_each(nodes, index, next(members))
    forest = Forest(nodes, list(tree_roots), n_targets)
    found = scores(emit, x, forest, AGGREGATES[aggregate_function])
    return transformed(emit, found, POST_TRANSFORMS[post_transform])


def _sets(values: Array | None) -> list[list[float]]:
    """Return the sets of numbers that NaN stands between."""
    found: list[list[float]] = [[]]
    for number in [] if values is None else values.reshape(-1).tolist():
        if number != number:
            found.append([])
        else:
            found[-1].append(number)
    return found


def _ask_each(nodes: list[Node], index: int, members: Sequence[float]) -> None:
    """Replace a question of membership by one of equality for each member, one after the other."""
    true, false = nodes[index].children
    nodes[index].threshold = members[0] if members else np.nan
    at = index
    for number in members[1:]:
        nodes.append(Node(nodes[index].feature, number, "eq", (true, false)))
        nodes[at].children = (true, len(nodes) - 1)
        at = len(nodes) - 1


@dataclass(frozen=True)
class NodeAttributes:
    """The attributes of nodes that TreeEnsembleRegressor and TreeEnsembleClassifier share."""

    nodes_falsenodeids: Ints = ()
    nodes_featureids: Ints = ()
    nodes_hitrates: Floats = ()
    nodes_hitrates_as_tensor: Array | None = None
    nodes_missing_value_tracks_true: Ints = ()
    nodes_modes: Sequence[str] = ()
    nodes_nodeids: Ints = ()
    nodes_treeids: Ints = ()
    nodes_truenodeids: Ints = ()
    nodes_values: Floats = ()
    nodes_values_as_tensor: Array | None = None

    def forest(
        self, trees: Ints, leaves: Ints, targets: Ints, weights: Sequence[float], count: int
    ) -> Forest:
        """Return the trees; votes name a tree, a leaf of it, a target and a weight."""
        keys = list(zip(self.nodes_treeids, self.nodes_nodeids, strict=True))
        at = {key: index for index, key in enumerate(keys)}
        values = _numbers(self.nodes_values, self.nodes_values_as_tensor)
        tracks = list(self.nodes_missing_value_tracks_true) or [0] * len(keys)
        nodes: list[Node] = []
        for index, (tree, _) in enumerate(keys):
            mode = self.nodes_modes[index]
            if mode == "LEAF":
                nodes.append(Node())
                continue
            if mode not in MODES:
                raise Refusal(f"unsupported mode '{mode}'; supported: LEAF, {', '.join(MODES)}")
            ends = (self.nodes_truenodeids[index], self.nodes_falsenodeids[index])
            children = (at[tree, ends[0]], at[tree, ends[1]])
            feature, track = self.nodes_featureids[index], bool(tracks[index])
            nodes.append(Node(feature, values[index], MODES[mode], children, track))
        for tree, leaf, target, weight in zip(trees, leaves, targets, weights, strict=True):
            votes = nodes[at[tree, leaf]].votes
            votes[target] = votes.get(target, 0.0) + weight
        firsts = {tree: index for index, (tree, _) in reversed(list(enumerate(keys)))}
        return Forest(nodes, [firsts[tree] for tree in dict.fromkeys(self.nodes_treeids)], count)


def _numbers(floats: Floats, tensor: Array | None) -> list[float]:
    return [float(each) for each in (floats if tensor is None else tensor.reshape(-1).tolist())]


def _with_base(emit: Emitter, found: SSAValue, base: Sequence[float]) -> SSAValue:
    if not base:
        return found
    return emit(AddOp(found, emit.array(np.array(base), element_type(found))))


@register_op("ai.onnx.ml.TreeEnsembleRegressor")
def tree_ensemble_regressor(
    emit: Emitter,
    x: SSAValue,
    nodes: NodeAttributes,
    aggregate_function: str = "SUM",
    base_values: Floats = (),
    base_values_as_tensor: Array | None = None,
    n_targets: int = 1,
    post_transform: str = "NONE",
    target_ids: Ints = (),
    target_nodeids: Ints = (),
    target_treeids: Ints = (),
    target_weights: Floats = (),
    target_weights_as_tensor: Array | None = None,
) -> SSAValue:
    """What the leaves of trees say together"""
    weights = _numbers(target_weights, target_weights_as_tensor)
    forest = nodes.forest(target_treeids, target_nodeids, target_ids, weights, n_targets)
    found = emit.cast(scores(emit, x, forest, aggregate_function), f32)
    base = _numbers(base_values, base_values_as_tensor)
    return transformed(emit, _with_base(emit, found, base), post_transform)


@register_op("ai.onnx.ml.TreeEnsembleClassifier")
def tree_ensemble_classifier(
    emit: Emitter,
    x: SSAValue,
    nodes: NodeAttributes,
    base_values: Floats = (),
    base_values_as_tensor: Array | None = None,
    class_ids: Ints = (),
    class_nodeids: Ints = (),
    class_treeids: Ints = (),
    class_weights: Floats = (),
    class_weights_as_tensor: Array | None = None,
    classlabels_int64s: Ints = (),
    classlabels_strings: Sequence[str] = (),
    post_transform: str = "NONE",
) -> Sequence[SSAValue | None]:
    """The class that the leaves of trees vote for, and the votes"""
    weights = _numbers(class_weights, class_weights_as_tensor)
    count = len(classlabels_int64s) or len(classlabels_strings)
    is_binary = count == 2 and len(set(class_ids)) == 1
    ids = [0] * len(class_ids) if is_binary else class_ids
    forest = nodes.forest(class_treeids, class_nodeids, ids, weights, 1 if is_binary else count)
    base = _numbers(base_values, base_values_as_tensor)
    found = emit.cast(scores(emit, x, forest, "SUM"), f32)
    found = _with_base(emit, found, base[-1:] if is_binary else base)
    positive = min(weights, default=0.0) >= 0
    return labelled(
        emit,
        found,
        classlabels_int64s,
        classlabels_strings,
        post_transform,
        positive=positive,
        first_is_zero=set(class_ids) == {1},
    )
