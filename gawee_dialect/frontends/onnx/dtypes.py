"""The element types of ONNX."""

DTYPES = {
    **{1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64"},
    **{9: "bool", 10: "float16", 11: "float64"},
}
"""NumPy's names of the numbers that TensorProto.DataType has."""
