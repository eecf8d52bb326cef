"""Steps on ops of linalg: loops over tiles, `scf.for` on slices of tensors, around linalg."""
