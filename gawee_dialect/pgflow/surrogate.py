"""The vector of a network by PG-Flow: its graph and the statistics of its weights, propagated.

gate    g = 1 + beta * tanh(lambda * z), z the z-score of the energy over nodes with weight
message m = sum over predecessors of g_pred * f_pred   (outgoing), or g * sum of f_pred
state   f = clip(0.5 m + 0.5 relu([P[operation], m] W), -10, 10); f = r without predecessors
vector  s = sum of f over outputs, divided by its norm
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import prod

import numpy as np
from numpy.typing import NDArray

from gawee_dialect.diagnostics import GaweeError
from gawee_dialect.parameters.store import Array
from gawee_dialect.pgflow.graph import OPERATIONS, PgFlowGraph

Vector = NDArray[np.float64]

BETA, LAMBDA, GAMMA, EPSILON = 0.2, 1.0, 0.5, 1e-6
SPARSE = 1e-3
"""Weights smaller than this count as zero."""
LIMIT = 10.0
"""What no state exceeds."""


class Gate(StrEnum):
    """What the energy of a node's weight is."""

    REL_NORM = "rel_norm"
    SCALE_NORM = "scale_norm"
    NORM_SPARSITY = "norm_sparsity"


class Flow(StrEnum):
    """Whose gate a message passes: that of the node it leaves, or of the one it enters."""

    OUTGOING = "outgoing"
    INCOMING = "incoming"


@dataclass(frozen=True)
class Projection:
    """The fixed random arrays: P (32 x k), W (2k x k), r (k). Results depend on them."""

    p: Vector
    w: Vector
    r: Vector

    @staticmethod
    def random(k: int = 16, seed: int = 42) -> "Projection":
        """Draw P and W from N(0, 0.05), r from [0, 1), by NumPy's generator."""
        rng = np.random.default_rng(seed)
        p = rng.normal(0, 0.05, (len(OPERATIONS), k))
        return Projection(p, rng.normal(0, 0.05, (2 * k, k)), rng.random(k))


def energy(weight: Array, gate: Gate | str) -> float:
    """Return the energy of a weight; raises GaweeError for a gate that does not exist."""
    if gate not in tuple(Gate):
        raise GaweeError(f"unknown gate '{gate}'; supported: {', '.join(Gate)}")
    values = np.asarray(weight, np.float64)
    norm = float(np.sqrt(np.sum(values**2)))
    fan_in = prod(values.shape[1:]) if values.ndim > 1 else 1
    size = fan_in if gate == Gate.SCALE_NORM else values.size
    result = float(np.log(norm / (np.sqrt(size) + EPSILON) + EPSILON))
    if gate == Gate.NORM_SPARSITY:
        result -= GAMMA * float(np.mean(np.abs(values) < SPARSE))
    return result


def gates(
    graph: PgFlowGraph, weights: Mapping[str, Array], gate: Gate | str = Gate.REL_NORM
) -> dict[int, float]:
    """Return the gate of every node: 1 for one without a weight, named `ID.weight`."""
    named = {node: f"{node}.weight" for node in graph.operations}
    energies = {
        node: energy(weights[name], gate) for node, name in named.items() if name in weights
    }
    values = np.array(list(energies.values()) or [0.0])
    mean, spread = float(values.mean()), float(values.std()) + EPSILON
    return {
        node: 1 + BETA * float(np.tanh(LAMBDA * (energies[node] - mean) / spread))
        if node in energies
        else 1.0
        for node in graph.operations
    }


def surrogate_vector(
    graph: PgFlowGraph,
    weights: Mapping[str, Array],
    projection: Projection,
    gate: Gate | str = Gate.REL_NORM,
    flow: Flow | str = Flow.OUTGOING,
) -> Vector:
    """Return the vector of a network, of k entries.

    Raises GaweeError for a gate or a flow that does not exist.
    """
    if flow not in tuple(Flow):
        raise GaweeError(f"unknown flow '{flow}'; supported: {', '.join(Flow)}")
    gate_of = gates(graph, weights, gate)
    states: dict[int, Vector] = {}
    for node, before in graph.predecessors().items():
        if not before:
            states[node] = projection.r
            continue
        factors = [gate_of[each if flow == Flow.OUTGOING else node] for each in before]
        message = np.sum([f * states[each] for f, each in zip(factors, before, strict=True)], 0)
        joined = np.concatenate([projection.p[graph.operations[node]], message])
        state = 0.5 * message + 0.5 * np.maximum(joined @ projection.w, 0)
        states[node] = np.clip(state, -LIMIT, LIMIT)
    total = np.sum([states[node] for node in graph.outputs], 0)
    norm = float(np.linalg.norm(total))
    return total / norm if norm > EPSILON else total
