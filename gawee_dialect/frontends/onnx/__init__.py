"""ONNX models: ModelProto files, and the registry of ONNX ops that other formats share."""
