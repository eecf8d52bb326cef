"""Choices for kernels: what kernels are called, and what was chosen for each; a value to passes."""
