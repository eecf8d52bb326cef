"""Passes over graphs, and the ways from graphs to linalg on tensors."""
