"""What does each of our passes gain? Every optional pass is left out, on five small networks.

`make study` measures, and writes the table and the figure of docs/passes_study.md.
"""
