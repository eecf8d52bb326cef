"""Random graphs through random pipelines: every level computes what the graph says.

`python -m tests.graph_fuzz --minutes 10` tries as many as it can, and writes what is wrong.
"""
