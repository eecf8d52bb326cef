"""Descriptions as definition code: op classes in Python, IRDL, C with a header, pages."""
