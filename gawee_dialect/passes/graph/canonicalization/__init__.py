"""Canonicalization patterns, one file an op family; the ops import them at their first use."""
