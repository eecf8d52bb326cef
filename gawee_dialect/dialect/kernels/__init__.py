"""Kernels, the algorithms that compute them, and their schedules."""
