"""What can be said of a module without running or changing it."""
