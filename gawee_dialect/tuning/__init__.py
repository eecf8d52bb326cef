"""Choices for kernels that were measured or written by hand: how they are kept, and found."""
