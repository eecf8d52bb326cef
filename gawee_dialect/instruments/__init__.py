"""What watches a pipeline without changing what it does."""
