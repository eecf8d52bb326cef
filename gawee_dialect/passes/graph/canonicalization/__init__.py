"""Canonicalization patterns, one file an op family; the ops import them when first asked."""
