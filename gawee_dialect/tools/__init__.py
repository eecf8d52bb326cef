"""Command lines: argument parsing only."""
