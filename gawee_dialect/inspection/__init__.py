"""What a graph holds and what it looks like, whichever format it was read from."""
