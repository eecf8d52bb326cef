"""Networks of 8-bit integers: ranges on data, QDQ graphs, and what each layer costs in accuracy."""
