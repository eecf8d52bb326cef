"""If, Loop and Scan where it takes a run to know which branch, how many steps, or what sizes."""
CONTROL_FLOW = {}
