"""Operator descriptions: ops that are defined as data, and what follows from that."""
