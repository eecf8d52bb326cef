"""Readers of graph formats: one file a format; text in, verified module out."""
