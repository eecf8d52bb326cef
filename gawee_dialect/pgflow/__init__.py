"""PG-Flow: graphs of detectors as ids and operations, whose weights are UWEF, and their vectors."""
