"""What the claims about speed are made of: `make bench`, or `python -m benchmarks.NAME`."""
