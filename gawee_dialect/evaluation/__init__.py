"""Measuring: how long code takes, with the noise stated, and whatever else can be said of it."""
