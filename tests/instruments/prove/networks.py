"""Small networks as text, of odd and all different sizes, for proofs of whole pipelines."""

RESIDUAL = """
func.func @main(%x: tensor<2x16x13x11xf32> {gawee.input = "x"},
                %w: tensor<16x16x3x3xf32> {gawee.parameter = "conv1.weight"},
                %v: tensor<16x16x3x3xf32> {gawee.parameter = "conv2.weight"},
                %m: tensor<16xf32> {gawee.parameter = "bn.running_mean"},
                %s: tensor<16xf32> {gawee.parameter = "bn.running_var"},
                %g: tensor<16xf32> {gawee.parameter = "bn.weight"},
                %b: tensor<16xf32> {gawee.parameter = "bn.bias"})
    -> (tensor<2x16x6x5xf32> {gawee.output = "y"}) {
  %a = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x16x13x11xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x13x11xf32> loc("conv1"("net.json":10:5))
  %n = gawee.batch_norm %a mean %m variance %s scale %g bias %b eps 1.000000e-05 : tensor<2x16x13x11xf32>, tensor<16xf32> loc("bn1"("net.json":20:5))
  %r = gawee.relu %n : (tensor<2x16x13x11xf32>) -> tensor<2x16x13x11xf32> loc("act"("net.json":30:5))
  %c = gawee.conv %r, %v strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x16x13x11xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x13x11xf32> loc("conv2"("net.json":40:5))
  %d = gawee.add %c, %x : (tensor<2x16x13x11xf32>, tensor<2x16x13x11xf32>) -> tensor<2x16x13x11xf32> loc("skip"("net.json":50:5))
  %y = gawee.max_pool %d kernel [3, 3] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] ceil_mode false : (tensor<2x16x13x11xf32>) -> tensor<2x16x6x5xf32> loc("pool"("net.json":60:5))
  return %y : tensor<2x16x6x5xf32> loc("output"("net.json":70:5))
}
"""

MOBILE = """
func.func @main(%x: tensor<2x3x9x7xf32> {gawee.input = "x"},
                %e: tensor<6x3x1x1xf32> {gawee.parameter = "expand.weight"},
                %w: tensor<6x1x3x3xf32> {gawee.parameter = "depthwise.weight"},
                %p: tensor<3x6x1x1xf32> {gawee.parameter = "project.weight"},
                %b: tensor<3xf32> {gawee.parameter = "project.bias"})
    -> (tensor<2x3x9x7xf32> {gawee.output = "y"}) {
  %a = gawee.conv %x, %e strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x3x9x7xf32>, tensor<6x3x1x1xf32>) -> tensor<2x6x9x7xf32> loc("expand"("net.json":10:5))
  %r = gawee.clip %a min 0.000000e+00 max 6.000000e+00 : (tensor<2x6x9x7xf32>) -> tensor<2x6x9x7xf32> loc("relu6"("net.json":20:5))
  %c = gawee.conv %r, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 6 : (tensor<2x6x9x7xf32>, tensor<6x1x3x3xf32>) -> tensor<2x6x9x7xf32> loc("depthwise"("net.json":30:5))
  %m = gawee.reduce_mean %c axes [2, 3] keep_dims : (tensor<2x6x9x7xf32>) -> tensor<2x6x1x1xf32> loc("squeeze"("net.json":40:5))
  %s = gawee.hard_sigmoid %m : (tensor<2x6x1x1xf32>) -> tensor<2x6x1x1xf32> loc("gate"("net.json":50:5))
  %h = gawee.mul %c, %s : (tensor<2x6x9x7xf32>, tensor<2x6x1x1xf32>) -> tensor<2x6x9x7xf32> loc("excite"("net.json":60:5))
  %i = gawee.silu %h : (tensor<2x6x9x7xf32>) -> tensor<2x6x9x7xf32> loc("act"("net.json":70:5))
  %q = gawee.conv %i, %p bias %b strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<2x6x9x7xf32>, tensor<3x6x1x1xf32>, tensor<3xf32>) -> tensor<2x3x9x7xf32> loc("project"("net.json":80:5))
  %y = gawee.add %q, %x : (tensor<2x3x9x7xf32>, tensor<2x3x9x7xf32>) -> tensor<2x3x9x7xf32> loc("skip"("net.json":90:5))
  return %y : tensor<2x3x9x7xf32> loc("output"("net.json":95:5))
}
"""

TRANSFORMER = """
func.func @main(%x: tensor<2x5x6xf32> {gawee.input = "x"},
                %g: tensor<6xf32> {gawee.parameter = "norm.weight"},
                %b: tensor<6xf32> {gawee.parameter = "norm.bias"},
                %q: tensor<6x6xf32> {gawee.parameter = "q.weight"},
                %k: tensor<6x6xf32> {gawee.parameter = "k.weight"},
                %v: tensor<6x6xf32> {gawee.parameter = "v.weight"},
                %u: tensor<9x6xf32> {gawee.parameter = "up.weight"},
                %d: tensor<6x9xf32> {gawee.parameter = "down.weight"})
    -> (tensor<2x5x6xf32> {gawee.output = "y"}) {
  %n = gawee.layer_norm %x scale %g : tensor<6xf32> bias %b : tensor<6xf32> normalized_rank 1 eps 1.000000e-05 : tensor<2x5x6xf32> loc("norm"("net.json":10:5))
  %0 = gawee.matmul %n, %q : (tensor<2x5x6xf32>, tensor<6x6xf32>) -> tensor<2x5x6xf32> loc("q"("net.json":20:5))
  %1 = gawee.matmul %n, %k : (tensor<2x5x6xf32>, tensor<6x6xf32>) -> tensor<2x5x6xf32> loc("k"("net.json":21:5))
  %2 = gawee.matmul %n, %v : (tensor<2x5x6xf32>, tensor<6x6xf32>) -> tensor<2x5x6xf32> loc("v"("net.json":22:5))
  %a = gawee.attention %0, %1, %2 scale 4.082483e-01 : (tensor<2x5x6xf32>, tensor<2x5x6xf32>, tensor<2x5x6xf32>) -> tensor<2x5x6xf32> loc("attention"("net.json":30:5))
  %r = gawee.add %a, %x : (tensor<2x5x6xf32>, tensor<2x5x6xf32>) -> tensor<2x5x6xf32> loc("skip1"("net.json":40:5))
  %h = gawee.matmul %r, %u : (tensor<2x5x6xf32>, tensor<9x6xf32>) -> tensor<2x5x9xf32> loc("up"("net.json":50:5))
  %e = gawee.gelu %h approximate "none" : (tensor<2x5x9xf32>) -> tensor<2x5x9xf32> loc("gelu"("net.json":60:5))
  %l = gawee.matmul %e, %d : (tensor<2x5x9xf32>, tensor<6x9xf32>) -> tensor<2x5x6xf32> loc("down"("net.json":70:5))
  %t = gawee.add %l, %r : (tensor<2x5x6xf32>, tensor<2x5x6xf32>) -> tensor<2x5x6xf32> loc("skip2"("net.json":80:5))
  %y = gawee.softmax %t axis 2 : (tensor<2x5x6xf32>) -> tensor<2x5x6xf32> loc("classes"("net.json":90:5))
  return %y : tensor<2x5x6xf32> loc("output"("net.json":95:5))
}
"""

SUM = """
func.func @main(%x: tensor<3x5xf32> {gawee.input = "x"}, %z: tensor<3x5xf32> {gawee.input = "z"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %c = gawee.constant dense<1.000000e-01> : tensor<f32> loc("tenth"("net.json":5:5))
  %s = gawee.add %x, %z : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("sum"("net.json":10:5))
  %m = gawee.mul %s, %c : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> loc("scale"("net.json":20:5))
  %y = gawee.tanh %m : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("act"("net.json":30:5))
  return %y : tensor<3x5xf32> loc("output"("net.json":40:5))
}
"""

BRAINS = """
func.func @main(%x: tensor<3x5xbf16> {gawee.input = "x"}) -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %w = gawee.cast %x : (tensor<3x5xbf16>) -> tensor<3x5xf32>
  %d = gawee.sub %w, %w : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %y = gawee.add %d, %w : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
"""

WINOGRAD = """
func.func @main(%x: tensor<1x16x13x11xf32> {gawee.input = "x"},
                %w: tensor<16x16x3x3xf32> {gawee.parameter = "conv1.weight"})
    -> (tensor<1x16x13x11xf32> {gawee.output = "y"}) {
  %y = gawee.conv %x, %w strides [1, 1] padding [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<1x16x13x11xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x13x11xf32>
  return %y : tensor<1x16x13x11xf32>
}
"""

INTEGERS = """
func.func @main(%i: tensor<2x5xi32> {gawee.input = "i"}) -> (tensor<2x5xf32> {gawee.output = "y"}, tensor<2x5xf32> {gawee.output = "z"}) {
  %f = gawee.cast %i : (tensor<2x5xi32>) -> tensor<2x5xf32>
  %y = gawee.exp %f : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %b = gawee.bitcast %i : (tensor<2x5xi32>) -> tensor<2x5xf32>
  %z = gawee.log_softmax %b axis 1 : (tensor<2x5xf32>) -> tensor<2x5xf32>
  return %y, %z : tensor<2x5xf32>, tensor<2x5xf32>
}
"""

ACTIVATED_HALVES = """
func.func @main(%x: tensor<2x3xf16> {gawee.input = "x"}, %m: tensor<3xf16> {gawee.parameter = "m"},
                %v: tensor<3xf16> {gawee.parameter = "v"}) -> (tensor<2x3xf16> {gawee.output = "y"}) {
  %n = gawee.batch_norm %x mean %m variance %v eps 1.000000e-05 : tensor<2x3xf16>, tensor<3xf16>
  %y = gawee.gelu %n approximate "tanh" : (tensor<2x3xf16>) -> tensor<2x3xf16>
  return %y : tensor<2x3xf16>
}
"""

HALVES = """
func.func @main(%x: tensor<2x37xf16> {gawee.input = "x"}, %i: tensor<3xi64> {gawee.input = "i"}) -> (tensor<2x3xf16> {gawee.output = "y"}) {
  %e = gawee.exp %x : (tensor<2x37xf16>) -> tensor<2x37xf16>
  %s = gawee.softmax %e axis 1 : (tensor<2x37xf16>) -> tensor<2x37xf16>
  %y = gawee.gather %s, %i axis 1 : (tensor<2x37xf16>, tensor<3xi64>) -> tensor<2x3xf16>
  return %y : tensor<2x3xf16>
}
"""
