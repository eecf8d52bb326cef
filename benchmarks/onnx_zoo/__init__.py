"""A zoo of .onnx files, each read, compiled and compared with ONNX Runtime.

python -m benchmarks.onnx_zoo            # all, in processes of their own; writes docs/onnx_zoo.md
python -m benchmarks.onnx_zoo resnet18   # some, by parts of their names
python -m benchmarks.onnx_zoo --packages # files of packages instead; writes docs/onnx_files.md
"""
