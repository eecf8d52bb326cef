"""Pictures of measurements; they need matplotlib, the extra `plot`."""
