"""Linear models, support vectors, and what prepares features for them, texts too (ai.onnx.ml)."""

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from gawee_dialect.dialect.graph.activation import ClipOp, SigmoidOp
from gawee_dialect.dialect.graph.arithmetic import AbsOp, ExpOp, NegOp, TanhOp
from gawee_dialect.dialect.graph.elementwise import AddOp, DivOp, MulOp, SqrtOp, SubOp
from gawee_dialect.dialect.graph.indexing import GatherOp
from gawee_dialect.dialect.graph.logic import BitwiseAndOp, CompareOp, WhereOp
from gawee_dialect.dialect.graph.matmul import BatchMatMulOp
from gawee_dialect.dialect.graph.movement import CatOp
from gawee_dialect.dialect.graph.reduction import ArgMaxOp, ReduceMaxOp, ReduceSumOp, SoftmaxOp
from gawee_dialect.dialect.types import element_type, is_float, shape_text, tensor_shape
from gawee_dialect.frontends.npu_ir.aten.arithmetic import pow_number
from gawee_dialect.frontends.onnx.registry import register_op
from gawee_dialect.frontends.op_mapping.control_flow import recurrence
from gawee_dialect.frontends.op_mapping.emitter import Emitter, compared, part
from gawee_dialect.frontends.op_mapping.registry import Floats, Ints, Refusal, Tensors

AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
"""How TreeEnsemble's votes become one, in the order of its numbers."""

POST_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""What becomes of scores, in the order of TreeEnsemble's numbers."""

LEAST_SHARE = 1e-7
"""A class has at least that much of a pair."""


def transformed(emit: Emitter, scores: SSAValue, how: str) -> SSAValue:
    """Return scores, N x classes, as an attribute `post_transform` says; raises Refusal."""
    if how == "NONE":
        return scores
    if how == "LOGISTIC":
        return emit(SigmoidOp(scores))
    if how == "SOFTMAX":
        return emit(SoftmaxOp(scores, axis=1))
    raise Refusal(f"unsupported post_transform '{how}'; supported: NONE, SOFTMAX, LOGISTIC")


def labelled(
    emit: Emitter,
    scores: SSAValue,
    labels: Ints,
    texts: Sequence[str],
    how: str,
    *,
    positive: bool = False,
    first_is_zero: bool = False,
) -> Sequence[SSAValue | None]:
    """Return the label of the best class of each row, and the scores of all classes.

    Scores of one column are those of the second of two classes; `positive`: they are shares. The
    first class has then the rest, or zero.
    """
    if texts:
        _refuse_text(emit)
    count = len(labels) or len(texts)
    if tensor_shape(scores)[1] == 1 and count == 2:
        scores, best = _of_two(emit, scores, how, positive, first_is_zero)
    else:
        best = emit(ArgMaxOp(scores, axis=1))
        scores = transformed(emit, scores, how)
    if texts:
        return None, scores
    return emit(GatherOp(emit.array(np.array(labels), i64), best)), scores


def _refuse_text(emit: Emitter) -> None:
    if emit.is_used(0):
        text = "unsupported labels that are text; supported: integers, or text that nothing reads"
        raise Refusal(text)


def _of_two(
    emit: Emitter, score: SSAValue, how: str, positive: bool, first_is_zero: bool
) -> tuple[SSAValue, SSAValue]:
    """Return scores of both classes, and the better one."""
    limit = emit.number(0.5 if positive else 0, f32)
    second = emit(CompareOp(score, limit, predicate="gt"))
    best = emit.reshape(emit.cast(second, i64), tensor_shape(score)[:1])
    if first_is_zero:
        both = emit(CatOp([emit.full(tensor_shape(score), 0, f32), score], dim=1))
        return transformed(emit, both, how), best
    if how == "LOGISTIC" and not positive:
        both = emit(CatOp([emit(NegOp(score)), score], dim=1))
        return emit(SigmoidOp(both)), best
    other = emit(SubOp(emit.number(1, f32), score)) if positive else emit(NegOp(score))
    return transformed(emit, emit(CatOp([other, score], dim=1)), how), best


def _rows(emit: Emitter, x: SSAValue) -> SSAValue:
    """Return features as rows of float32: one row where there is one axis."""
    shape = tensor_shape(x)
    return emit.cast(emit.reshape(x, shape if len(shape) == 2 else (1, *shape)), f32)


def _affine(emit: Emitter, x: SSAValue, weights: Floats, added: Floats, count: int) -> SSAValue:
    """Return rows times weights (count x features), plus a number for each of `count`."""
    rows = _rows(emit, x)
    table = np.array(weights).reshape(count, -1)
    if table.shape[1] != tensor_shape(rows)[1]:
        features = tensor_shape(rows)[1]
        raise Refusal(f"expected coefficients of {features} features, got {table.shape[1]}")
    product = emit(BatchMatMulOp(rows, emit.array(np.ascontiguousarray(table.T), f32)))
    return emit(AddOp(product, emit.array(np.array(added), f32))) if len(added) else product


@register_op("ai.onnx.ml.LinearRegressor")
def linear_regressor(
    emit: Emitter,
    x: SSAValue,
    coefficients: Floats = (),
    intercepts: Floats = (),
    post_transform: str = "NONE",
    targets: int = 1,
) -> SSAValue:
    """A weighted sum of features for each target"""
    return transformed(emit, _affine(emit, x, coefficients, intercepts, targets), post_transform)


@register_op("ai.onnx.ml.LinearClassifier")
def linear_classifier(
    emit: Emitter,
    x: SSAValue,
    coefficients: Floats,
    classlabels_ints: Ints = (),
    classlabels_strings: Sequence[str] = (),
    intercepts: Floats = (),
    multi_class: int = 0,
    post_transform: str = "NONE",
) -> Sequence[SSAValue | None]:
    """The class whose weighted sum of features is the largest, and the sums"""
    features = tensor_shape(_rows(emit, x))[1]
    scores = _affine(emit, x, coefficients, intercepts, max(len(coefficients) // features, 1))
    return labelled(emit, scores, classlabels_ints, classlabels_strings, post_transform)


def _kernel(emit: Emitter, x: SSAValue, vectors: np.ndarray, kind: str, params: Floats) -> SSAValue:
    """Return how alike rows and support vectors are, N x vectors."""
    gamma, offset, degree = (*params, 0.0, 0.0, 0.0)[:3]
    if kind not in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        raise Refusal(f"unsupported kernel_type '{kind}'; supported: LINEAR, POLY, RBF, SIGMOID")
    if kind == "RBF":
        rows, features = tensor_shape(x)
        apart = emit(SubOp(emit.reshape(x, (rows, 1, features)), emit.array(vectors, f32)))
        squares = emit(ReduceSumOp(emit(MulOp(apart, apart)), axes=[2], keep_dims=False))
        return emit(ExpOp(emit(MulOp(squares, emit.number(-gamma, f32)))))
    product = emit(BatchMatMulOp(x, emit.array(np.ascontiguousarray(vectors.T), f32)))
    if kind == "LINEAR":
        return product
    scaled = emit(AddOp(emit(MulOp(product, emit.number(gamma, f32))), emit.number(offset, f32)))
    return emit(TanhOp(scaled)) if kind == "SIGMOID" else pow_number(emit, scaled, int(degree))


@register_op("ai.onnx.ml.SVMClassifier")
def svm_classifier(
    emit: Emitter,
    x: SSAValue,
    coefficients: Floats,
    classlabels_ints: Ints = (),
    classlabels_strings: Sequence[str] = (),
    kernel_params: Floats = (),
    kernel_type: str = "LINEAR",
    post_transform: str = "NONE",
    prob_a: Floats = (),
    prob_b: Floats = (),
    rho: Floats = (),
    support_vectors: Floats = (),
    vectors_per_class: Ints = (),
) -> Sequence[SSAValue | None]:
    """The class that wins against most others, and what decides each pair, or shares of classes"""
    count = len(classlabels_ints) or len(classlabels_strings)
    if not vectors_per_class:
        scores = _affine(emit, x, coefficients, [rho[0]] * count, count)
        return labelled(emit, scores, classlabels_ints, classlabels_strings, post_transform)
    vectors = np.array(support_vectors).reshape(sum(vectors_per_class), -1)
    alike = _kernel(emit, _rows(emit, x), vectors, kernel_type, kernel_params)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    table = _coefficients_of_pairs(pairs, coefficients, vectors_per_class)
    deciding = emit(
        AddOp(emit(BatchMatMulOp(alike, emit.array(table, f32))), emit.array(np.array(rho), f32))
    )
    first = emit.cast(emit(CompareOp(deciding, emit.number(0, f32), predicate="gt")), f32)
    # A pair is a vote for its second class, or one less for that and one more for the first.
    votes = np.zeros((len(pairs), count)), np.zeros(count)
    for row, (i, j) in enumerate(pairs):
        votes[0][row, [i, j]] = 1, -1
        votes[1][j] += 1
    won = emit(BatchMatMulOp(first, emit.array(votes[0], f32)))
    best = emit(ArgMaxOp(emit(AddOp(won, emit.array(votes[1], f32))), axis=1))
    if len(prob_a):
        slopes, offsets = (emit.array(np.array(each), f32) for each in (prob_a, prob_b))
        scaled = emit(AddOp(emit(MulOp(deciding, slopes)), offsets))
        scores = _coupled(emit, emit(SigmoidOp(emit(NegOp(scaled)))), pairs, count)
    else:
        scores = emit(CatOp([emit(NegOp(deciding)), deciding], dim=1)) if count == 2 else deciding
    scores = transformed(emit, scores, post_transform)
    if classlabels_strings:
        _refuse_text(emit)
        return None, scores
    return emit(GatherOp(emit.array(np.array(classlabels_ints), i64), best)), scores


def _coefficients_of_pairs(
    pairs: Sequence[tuple[int, int]], coefficients: Floats, vectors_per_class: Ints
) -> np.ndarray:
    """Return what a support vector adds to the score of a pair of classes: vectors x pairs."""
    ends = np.cumsum(vectors_per_class)
    places = [slice(end - n, end) for end, n in zip(ends, vectors_per_class, strict=True)]
    rows = np.array(coefficients).reshape(-1, ends[-1])
    table = np.zeros((ends[-1], len(pairs)))
    for column, (i, j) in enumerate(pairs):
        table[places[i], column] = rows[j - 1, places[i]]
        table[places[j], column] = rows[i, places[j]]
    return table


def _coupled(
    emit: Emitter, shares: SSAValue, pairs: Sequence[tuple[int, int]], count: int
) -> SSAValue:
    """Return shares of classes, N x classes, of the shares of the first class of each pair.

    The second method of Wu, Lin and Weng, "Probability Estimates for Multi-class Classification by
    Pairwise Coupling" (2004), with the steps and the end that libsvm has.
    """
    rows, one = tensor_shape(shares)[0], emit.number(1, f32)
    shares = emit(ClipOp(shares, min=LEAST_SHARE, max=1 - LEAST_SHARE))
    columns: dict[tuple[int, int], SSAValue] = {}
    for index, (i, j) in enumerate(pairs):
        columns[i, j] = part(emit, shares, 1, index, 1)
        columns[j, i] = emit(SubOp(one, columns[i, j]))

    def entry(t: int, j: int) -> SSAValue:
        if t != j:
            return emit(NegOp(emit(MulOp(columns[j, t], columns[t, j]))))
        squares = [emit(MulOp(columns[k, t], columns[k, t])) for k in range(count) if k != t]
        return reduce(lambda a, b: emit(AddOp(a, b)), squares)

    lines = [emit(CatOp([entry(t, j) for j in range(count)], dim=1)) for t in range(count)]
    matrix = emit.reshape(emit(CatOp(lines, dim=1)), (rows, count, count))

    def step(state: Sequence[SSAValue], _: object) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        (before,) = state
        p = before
        q = emit(
            ReduceSumOp(
                emit(MulOp(matrix, emit.reshape(p, (rows, 1, count)))), axes=[2], keep_dims=False
            )
        )
        total = emit(ReduceSumOp(emit(MulOp(p, q)), axes=[1], keep_dims=True))
        error = emit(ReduceMaxOp(emit(AbsOp(emit(SubOp(q, total)))), axes=[1], keep_dims=True))
        for t in range(count):
            line, own = lines[t], part(emit, lines[t], 1, t, 1)
            here = part(emit, q, 1, t, 1)
            change = emit(DivOp(emit(SubOp(total, here)), own))
            whole = emit(AddOp(one, change))
            place = np.arange(count) == t
            added = emit(MulOp(change, emit.array(place.astype(np.float32), f32)))
            grown = emit(AddOp(emit(MulOp(change, own)), emit(AddOp(here, here))))
            total = emit(AddOp(total, emit(MulOp(change, grown))))
            total = emit(DivOp(total, emit(MulOp(whole, whole))))
            p = emit(DivOp(emit(AddOp(p, added)), whole))
            q = emit(DivOp(emit(AddOp(q, emit(MulOp(change, line)))), whole))
        is_near = emit(CompareOp(error, emit.number(0.005 / count, f32), predicate="lt"))
        return [emit(WhereOp(is_near, before, p))], []

    start = emit.full((rows, count), 1 / count, f32)
    steps = emit.full((max(100, count), 1), 0, f32)
    (found,), _ = recurrence(emit, step, [start], [steps])
    return found


@register_op("ai.onnx.ml.SVMRegressor")
def svm_regressor(
    emit: Emitter,
    x: SSAValue,
    coefficients: Floats,
    kernel_params: Floats = (),
    kernel_type: str = "LINEAR",
    n_supports: int = 0,
    one_class: int = 0,
    post_transform: str = "NONE",
    rho: Floats = (0.0,),
    support_vectors: Floats = (),
) -> SSAValue:
    """A weighted sum of how alike rows and support vectors are; with one_class its sign"""
    if not n_supports:
        found = _affine(emit, x, coefficients, rho[:1], 1)
    else:
        vectors = np.array(support_vectors).reshape(n_supports, -1)
        alike = _kernel(emit, _rows(emit, x), vectors, kernel_type, kernel_params)
        found = _affine(emit, alike, coefficients, rho[:1], 1)
    if one_class:
        above = emit(CompareOp(found, emit.number(0, f32), predicate="gt"))
        found = emit(WhereOp(above, emit.number(1, f32), emit.number(-1, f32)))
    return transformed(emit, found, post_transform)


@register_op("ai.onnx.ml.Scaler")
def scaler(emit: Emitter, x: SSAValue, offset: Floats = (), scale: Floats = ()) -> SSAValue:
    """(x - offset) * scale, for each feature"""
    value = emit.cast(x, f32)
    if len(offset):
        value = emit(SubOp(value, emit.array(_number_or_several(offset), f32)))
    return emit(MulOp(value, emit.array(_number_or_several(scale), f32))) if len(scale) else value


def _number_or_several(numbers: Floats) -> np.ndarray:
    return np.array(numbers[0] if len(numbers) == 1 else numbers)


@register_op("ai.onnx.ml.Normalizer")
def normalizer(emit: Emitter, x: SSAValue, norm: str = "MAX") -> SSAValue:
    """Each row divided by its largest element, its sum, or its length"""
    value, last = emit.cast(x, f32), len(tensor_shape(x)) - 1
    if norm == "MAX":
        size = emit(ReduceMaxOp(value, axes=[last], keep_dims=True))
    elif norm == "L1":
        size = emit(ReduceSumOp(emit(AbsOp(value)), axes=[last], keep_dims=True))
    elif norm == "L2":
        squares = emit(MulOp(value, value))
        size = emit(SqrtOp(emit(ReduceSumOp(squares, axes=[last], keep_dims=True))))
    else:
        raise Refusal(f"unsupported norm '{norm}'; supported: MAX, L1, L2")
    zero, one = emit.number(0, f32), emit.number(1, f32)
    is_zero = emit(CompareOp(size, zero, predicate="eq"))
    return emit(DivOp(value, emit(WhereOp(is_zero, one, size))))


@register_op("ai.onnx.ml.Imputer")
def imputer(
    emit: Emitter,
    x: SSAValue,
    imputed_value_floats: Floats = (),
    imputed_value_int64s: Ints = (),
    replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> SSAValue:
    """Other numbers, one for each feature, where an element is a certain number, such as NaN"""
    element = element_type(x)
    replaced = replaced_value_float if is_float(element) else replaced_value_int64
    values = np.array(imputed_value_floats or imputed_value_int64s)
    if not values.size:
        raise Refusal("expected values that take the place of others, got none")
    number = emit.number(replaced, element)
    is_replaced = emit(
        CompareOp(x, x, predicate="ne")
        if replaced != replaced
        else CompareOp(x, number, predicate="eq")
    )
    others = emit.array(values[0] if values.size == 1 else values, element)
    return emit(WhereOp(is_replaced, others, x))


@register_op("ai.onnx.ml.Binarizer")
def binarizer(emit: Emitter, x: SSAValue, threshold: float = 0.0) -> SSAValue:
    """1 above a threshold, else 0"""
    element = element_type(x)
    return emit.cast(emit(CompareOp(x, emit.number(threshold, element), predicate="gt")), element)


@register_op("ai.onnx.ml.ArrayFeatureExtractor")
def array_feature_extractor(emit: Emitter, x: SSAValue, y: SSAValue) -> SSAValue:
    """Columns by their indices"""
    shape = tensor_shape(x)
    count = int(np.prod(tensor_shape(y)))
    indices = emit.reshape(emit.cast(y, i64), (count,))
    rows = x if len(shape) > 1 else emit.reshape(x, (1, *shape))
    return emit(GatherOp(rows, indices, axis=len(tensor_shape(rows)) - 1))


@register_op("ai.onnx.ml.FeatureVectorizer")
def feature_vectorizer(emit: Emitter, inputs: Tensors, inputdimensions: Ints = ()) -> SSAValue:
    """Features of several tensors beside each other, as many of each as it says"""
    rows = [_rows(emit, each) for each in inputs]
    counts = inputdimensions or [tensor_shape(each)[1] for each in rows]
    taken = [part(emit, each, 1, 0, n) for each, n in zip(rows, counts, strict=True)]
    return emit(CatOp(taken, dim=1)) if len(taken) > 1 else taken[0]


@register_op("ai.onnx.ml.OneHotEncoder", limits=("categories that are integers",))
def one_hot_encoder(
    emit: Emitter,
    x: SSAValue,
    cats_int64s: Ints = (),
    cats_strings: Sequence[str] = (),
    zeros: int = 1,
) -> SSAValue:
    """A one at the place of each element's category, zeros elsewhere"""
    if not cats_int64s or not zeros:
        raise Refusal("expected categories that are integers, and zeros where there is none")
    value = emit.reshape(emit.cast(x, i64), (*tensor_shape(x), 1))
    same = emit(CompareOp(value, emit.array(np.array(cats_int64s), i64), predicate="eq"))
    return emit.cast(same, f32)


MAX_SKIPS = 256
"""Words that an n-gram may skip: each count of them is looked for by ops of its own."""


def _counts(emit: Emitter, rows: SSAValue, grams: Sequence[Sequence[int]], skips: int) -> SSAValue:
    """Return how often each of some n-grams of one length stands in each row, as floats."""
    batch, width = tensor_shape(rows)
    size = len(grams[0])
    total = emit.full((batch, len(grams)), 0, f32)
    for step in range(1, (skips if size > 1 else 0) + 2):
        places = width - (size - 1) * step
        if places < 1:
            break
        hits: list[SSAValue] = []
        for position in range(size):
            now = emit.reshape(part(emit, rows, 1, position * step, places), (batch, places, 1))
            wanted = emit.array(np.array([gram[position] for gram in grams]), element_type(rows))
            hits.append(emit(CompareOp(now, wanted, predicate="eq")))
        found = emit.cast(reduce(lambda a, b: emit(BitwiseAndOp(a, b)), hits), f32)
        total = emit(AddOp(total, emit(ReduceSumOp(found, axes=[1]))))
    return total


def _check_pool(counts: Sequence[int], indexes: Sequence[int], pool: Sequence[int]) -> None:
    """Raise Refusal unless a pool is cut into n-grams, for each of which there is an index."""
    grams = 0
    for size, (start, end) in enumerate(pairwise([*counts, len(pool)]), 1):
        if start > end or (end - start) % size:
            raise Refusal(f"expected ngram_counts to cut {len(pool)} words, got {list(counts)}")
        grams += (end - start) // size
    if grams != len(indexes) or not grams:
        raise Refusal(f"expected an index of each of {grams} n-grams, got {len(indexes)}")


@register_op("TfIdfVectorizer", limits=("the pool is of integers",))
def tf_idf_vectorizer(
    emit: Emitter,
    x: SSAValue,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: str,
    ngram_counts: Ints,
    ngram_indexes: Ints,
    pool_int64s: Ints = (),
    weights: Floats | None = None,
) -> SSAValue:
    """How often n-grams of a pool stand in each row, weighted"""
    if mode not in ("TF", "IDF", "TFIDF"):
        raise Refusal(f"unsupported mode '{mode}'; supported: TF, IDF, TFIDF")
    shape = tensor_shape(x)
    rows = emit.reshape(x, (1, *shape)) if len(shape) == 1 else x
    if not 1 <= len(shape) <= 2:
        raise Refusal(f"expected rows of words, got {shape_text(shape)}")
    _check_pool(ngram_counts, ngram_indexes, pool_int64s)
    if max_skip_count > MAX_SKIPS:
        raise Refusal(f"expected a max_skip_count of at most {MAX_SKIPS}, got {max_skip_count}")
    columns = max(ngram_indexes) + 1
    parts = [emit.full((tensor_shape(rows)[0], 1), 0, f32)]
    at = [0] * columns
    scale = [1.0] * columns
    seen, gram = 1, 0
    for size, start in enumerate(ngram_counts, 1):
        end = ngram_counts[size] if size < len(ngram_counts) else len(pool_int64s)
        grams = [pool_int64s[i : i + size] for i in range(start, end, size)]
        if grams and min_gram_length <= size <= max_gram_length:
            parts.append(_counts(emit, rows, grams, max_skip_count))
            for offset in range(len(grams)):
                at[ngram_indexes[gram + offset]] = seen + offset
            seen += len(grams)
        for offset in range(len(grams)):
            scale[ngram_indexes[gram + offset]] = weights[gram + offset] if weights else 1.0
        gram += len(grams)
    counts = parts[0] if len(parts) == 1 else emit(CatOp(parts, dim=1))
    result = emit(GatherOp(counts, emit.array(np.array(at), i64), axis=1))
    if mode == "IDF":
        result = emit.cast(compared(emit, result, 0, "gt"), f32)
    if mode != "TF":
        result = emit(MulOp(result, emit.array(np.array(scale), f32)))
    return emit.reshape(result, (columns,)) if len(shape) == 1 else result
