"""Damaged inputs for every reader."""
