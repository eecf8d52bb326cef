"""Where weights live: `ParameterStore` over raw files, .npz and safetensors."""
