"""What editors ask of MLIR text: errors as one types, hover, completion, definitions, rename."""
