"""Complex tensors as real ones: a last axis of 2 has the real and the imaginary part."""
