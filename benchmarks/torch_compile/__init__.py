"""What torch.compile(net, backend="gawee") makes of networks: of the zoo's, and of 40 others.

python -m benchmarks.torch_compile            # all of them, in processes of their own
python -m benchmarks.torch_compile --missing  # only what has no result yet
"""
