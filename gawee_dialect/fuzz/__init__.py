"""Random graphs, loops and models through random pipelines: every level computes the same."""
