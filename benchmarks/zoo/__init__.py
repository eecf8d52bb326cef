"""A zoo: published networks, each taken from PyTorch to native code and compared with PyTorch.

python -m benchmarks.zoo            # all of them, in processes of their own; writes docs/zoo.md
python -m benchmarks.zoo resnet18   # some of them, by parts of their names
"""
