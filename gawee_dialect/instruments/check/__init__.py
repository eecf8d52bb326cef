"""Run a module before and after every pass, and compare what it computes.

`functions.py` says what is run, `inputs.py` on which data, `execute.py` how, at whatever level the
module has reached. `compare.py` says how far two runs are apart, `blame.py` which op is to
blame, and `failure.py` how that is told. `each.py` is the instrument.
"""
