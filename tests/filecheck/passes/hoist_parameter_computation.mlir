// RUN: gawee-opt %s --split-input-file --hoist-parameter-computation | filecheck %s

// CHECK-LABEL: func.func @prepare
// CHECK-SAME:  (%[[W:.*]]: tensor<5x3xf32> {gawee.parameter = "fc.weight", gawee.path = "weights/fc.bin"}) -> (tensor<5x3xf32> {gawee.output = "0"})
// CHECK-NEXT:  %[[P:.*]] = gawee.sqrt %[[W]]
// CHECK-NEXT:  func.return %[[P]]
// CHECK:       func.func @main(%x: tensor<2x3xf32> {gawee.input = "x"}, %[[B:.*]]: tensor<5xf32> {gawee.parameter = "fc.bias"}, %[[A:.*]]: tensor<5x3xf32> {gawee.prepared = "0"})
// CHECK-SAME:  -> (tensor<2x5xf32> {gawee.output = "y"})
// CHECK-NEXT:  gawee.matmul %x, %[[A]] bias %[[B]]
func.func @main(%x: tensor<2x3xf32>, %w: tensor<5x3xf32> {gawee.parameter = "fc.weight", gawee.path = "weights/fc.bin"}, %b: tensor<5xf32> {gawee.parameter = "fc.bias"}) -> (tensor<2x5xf32> {gawee.output = "y"}) {
  %p = gawee.sqrt %w : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %y = gawee.matmul %x, %p bias %b : (tensor<2x3xf32>, tensor<5x3xf32>, tensor<5xf32>) -> tensor<2x5xf32>
  func.return %y : tensor<2x5xf32>
}

// -----

// A parameter that both sides read is an argument of both.
// CHECK-LABEL: func.func @prepare(%w: tensor<2x3xf32> {gawee.parameter = "w"})
// CHECK:       func.func @main(%x: {{.*}}, %w: tensor<2x3xf32> {gawee.parameter = "w"}, %p: tensor<2x3xf32> {gawee.prepared = "0"})
func.func @main(%x: tensor<2x3xf32>, %w: tensor<2x3xf32> {gawee.parameter = "w"}) -> tensor<2x3xf32> {
  %p = gawee.sqrt %w : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = gawee.add %x, %p : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.add %y, %w : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @prepare
// CHECK-NEXT:  %[[ONE:.*]] = gawee.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:  gawee.add %{{.*}}, %[[ONE]]
// CHECK-LABEL: func.func @main
// CHECK-NEXT:  %[[ONE:.*]] = gawee.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:  gawee.add %x, %[[ONE]]
func.func @main(%x: tensor<2x3xf32>, %w: tensor<2x3xf32> {gawee.parameter = "w"}) -> tensor<2x3xf32> {
  %one = gawee.constant dense<1.0> : tensor<f32>
  %p = gawee.add %w, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %q = gawee.add %x, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %y = gawee.mul %p, %q : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// A view of a parameter costs nothing; a copy of it would.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:  func.func @main(%x: tensor<2x3xf32>, %w: tensor<6xf32> {gawee.parameter = "w"})
// CHECK-NEXT:  gawee.reshape
func.func @main(%x: tensor<2x3xf32>, %w: tensor<6xf32> {gawee.parameter = "w"}) -> tensor<2x3xf32> {
  %p = gawee.reshape %w shape [2, 3] : (tensor<6xf32>) -> tensor<2x3xf32>
  %y = gawee.add %x, %p : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// The view before the computing op moves, the view behind it stays.
// CHECK-LABEL: func.func @prepare
// CHECK-NEXT:  gawee.reshape %w shape [3, 2]
// CHECK-NEXT:  %[[P:.*]] = gawee.sqrt
// CHECK-NEXT:  func.return %[[P]] : tensor<3x2xf32>
// CHECK-LABEL: func.func @main
// CHECK-NEXT:  gawee.reshape %{{.*}} shape [2, 3]
func.func @main(%x: tensor<2x3xf32>, %w: tensor<6xf32> {gawee.parameter = "w"}) -> tensor<2x3xf32> {
  %p = gawee.reshape %w shape [3, 2] : (tensor<6xf32>) -> tensor<3x2xf32>
  %q = gawee.sqrt %p : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %r = gawee.reshape %q shape [2, 3] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %y = gawee.add %x, %r : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: builtin.module
// CHECK-NEXT:  func.func @main
// CHECK-NEXT:  gawee.constant
// CHECK-NEXT:  gawee.sqrt
func.func @main(%x: tensor<2x3xf32>, %w: tensor<2x3xf32> {gawee.parameter = "unused"}) -> tensor<2x3xf32> {
  %c = gawee.constant dense<2.0> : tensor<3xf32>
  %p = gawee.sqrt %c : (tensor<3xf32>) -> tensor<3xf32>
  %y = gawee.add %x, %p : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// The broadcast is as large as an activation: only what it repeats is prepared.
// CHECK-LABEL: func.func @prepare
// CHECK-NEXT:  %[[EMPTY:.*]] = tensor.empty() : tensor<3xf32>
// CHECK-NEXT:  %[[P:.*]] = linalg.generic
// CHECK:       func.return %[[P]] : tensor<3xf32>
// CHECK-LABEL: func.func @main
// CHECK:       %[[BIG:.*]] = tensor.empty() : tensor<2x3xf32>
// CHECK-NEXT:  linalg.broadcast
// CHECK-NEXT:  linalg.add
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3xf32> {gawee.parameter = "w"}) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%w : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = math.sqrt %a : f32
    linalg.yield %r : f32
  } -> tensor<3xf32>
  %big = tensor.empty() : tensor<2x3xf32>
  %q = linalg.broadcast ins(%p : tensor<3xf32>) outs(%big : tensor<2x3xf32>) dimensions = [0]
  %y = linalg.add ins(%x, %q : tensor<2x3xf32>, tensor<2x3xf32>) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// A body may read values from outside.
// CHECK-LABEL: func.func @prepare(%w: tensor<3x2xf32> {gawee.parameter = "w"})
// CHECK:       arith.constant 5.000000e-01 : f32
// CHECK-NEXT:  %[[P:.*]] = tensor.pad %w
// CHECK:       func.return %[[P]] : tensor<3x4xf32>
// CHECK-LABEL: func.func @main
// CHECK-NOT:   tensor.pad
func.func @main(%x: tensor<2x4xf32>, %w: tensor<3x2xf32> {gawee.parameter = "w"}) -> tensor<2x3xf32> {
  %half = arith.constant 0.5 : f32
  %p = tensor.pad %w low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %half : f32
  } : tensor<3x2xf32> to tensor<3x4xf32>
  %y = gawee.matmul %x, %p : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// The function that is there grows; a prepared value that nothing reads any more is dropped.
// CHECK-LABEL: func.func @prepare(%w: tensor<2x3xf32> {gawee.parameter = "w"}, %v: tensor<2x3xf32> {gawee.parameter = "v"})
// CHECK-SAME:  -> (tensor<2x3xf32> {gawee.output = "0"})
// CHECK:       %[[A:.*]] = gawee.sqrt %w
// CHECK:       %[[B:.*]] = gawee.mul %[[A]], %v
// CHECK-NEXT:  func.return %[[B]]
// CHECK-LABEL: func.func @main
// CHECK-SAME:  (%x: tensor<2x3xf32> {gawee.input = "x"}, %{{.*}}: tensor<2x3xf32> {gawee.prepared = "0"})
func.func @prepare(%w: tensor<2x3xf32> {gawee.parameter = "w"}) -> (tensor<2x3xf32> {gawee.output = "0"}) {
  %p = gawee.sqrt %w : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %p : tensor<2x3xf32>
}
func.func @main(%x: tensor<2x3xf32>, %p: tensor<2x3xf32> {gawee.prepared = "0"}, %v: tensor<2x3xf32> {gawee.parameter = "v"}) -> tensor<2x3xf32> {
  %q = gawee.mul %p, %v : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = gawee.add %x, %q : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @prepare
// CHECK-LABEL: func.func @main(%{{.*}}: tensor<2x3xf32> {gawee.prepared = "0"}) -> tensor<2x3xf32>
// CHECK-NOT:   gawee.sqrt
func.func @main(%w: tensor<2x3xf32> {gawee.parameter = "w"}) -> tensor<2x3xf32> {
  %p = gawee.sqrt %w : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %p : tensor<2x3xf32>
}

// -----

// A call that is made once moves, though it reads nothing; any other call stays.
// CHECK-LABEL: func.func @prepare() -> (tensor<3xf32> {gawee.output = "0"})
// CHECK-NEXT:  %[[T:.*]] = func.call @table() : () -> tensor<3xf32>
// CHECK-NEXT:  func.return %[[T]]
// CHECK:       func.func @main(%x: tensor<3xf32> {gawee.input = "x"}, %{{.*}}: tensor<3xf32> {gawee.prepared = "0"})
// CHECK-NEXT:  %{{.*}} = func.call @noise() : () -> tensor<3xf32>
func.func private @table() -> tensor<3xf32> attributes {gawee.c_source = "void table(float *y) {}", gawee.computed_once}
func.func private @noise() -> tensor<3xf32> attributes {gawee.c_source = "void noise(float *y) {}"}
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %t = func.call @table() : () -> tensor<3xf32>
  %n = func.call @noise() : () -> tensor<3xf32>
  %a = gawee.add %x, %t : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %y = gawee.add %a, %n : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// -----

// A scalar is computed again by @main: machine code returns none.
// CHECK-LABEL: func.func @prepare(%w: tensor<3xf32> {gawee.parameter = "w"}) -> (tensor<3xf32> {gawee.output = "0"})
// CHECK-NEXT:  %[[P:.*]] = gawee.sqrt %w
// CHECK-NEXT:  func.return %[[P]] : tensor<3xf32>
// CHECK:       func.func @main(%x: tensor<2xf32> {gawee.input = "x"}, %[[Q:.*]]: tensor<3xf32> {gawee.prepared = "0"})
// CHECK:       tensor.extract %[[Q]]
func.func @main(%x: tensor<2xf32> {gawee.input = "x"}, %w: tensor<3xf32> {gawee.parameter = "w"}) -> tensor<2xf32> {
  %p = gawee.sqrt %w : (tensor<3xf32>) -> tensor<3xf32>
  %i = arith.constant 1 : index
  %e = tensor.extract %p[%i] : tensor<3xf32>
  %y = tensor.insert %e into %x[%i] : tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// -----

// A scalar that both sides compute reads the moved tensor in @prepare, the argument in @main.
// CHECK-LABEL: func.func @prepare
// CHECK-NEXT:  %[[P:.*]] = gawee.sqrt %w
// CHECK-NEXT:  %[[I:.*]] = arith.constant 1
// CHECK-NEXT:  %[[E:.*]] = tensor.extract %[[P]][%[[I]]]
// CHECK-NEXT:  %[[S:.*]] = tensor.splat %[[E]]
// CHECK-LABEL: func.func @main
// CHECK-SAME:  %[[A:[a-z]+]]: tensor<3xf32> {gawee.prepared = "0"}
// CHECK:       tensor.extract %[[A]]
func.func @main(%x: tensor<2xf32> {gawee.input = "x"}, %w: tensor<3xf32> {gawee.parameter = "w"}) -> tensor<2xf32> {
  %p = gawee.sqrt %w : (tensor<3xf32>) -> tensor<3xf32>
  %i = arith.constant 1 : index
  %e = tensor.extract %p[%i] : tensor<3xf32>
  %s = tensor.splat %e : tensor<2xf32>
  %y = gawee.add %x, %s : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %z = tensor.insert %e into %y[%i] : tensor<2xf32>
  func.return %z : tensor<2xf32>
}

// -----

// What both sides read of a moved op is a result and an operand in @prepare, an argument in @main.
// CHECK-LABEL: func.func @prepare
// CHECK-NEXT:  %[[P:.*]] = gawee.sqrt %w
// CHECK-NEXT:  %[[Q:.*]] = gawee.exp %[[P]]
// CHECK-NEXT:  func.return %[[P]], %[[Q]]
// CHECK-LABEL: func.func @main
// CHECK-SAME:  %[[A:[a-z]+]]: tensor<2x3xf32> {gawee.prepared = "0"}, %[[B:[a-z]+]]: tensor<2x3xf32> {gawee.prepared = "1"}
// CHECK-NEXT:  %[[Y:.*]] = gawee.add %x, %[[A]]
// CHECK-NEXT:  gawee.mul %[[Y]], %[[B]]
func.func @main(%x: tensor<2x3xf32>, %w: tensor<2x3xf32> {gawee.parameter = "w"}) -> tensor<2x3xf32> {
  %p = gawee.sqrt %w : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = gawee.exp %p : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = gawee.add %x, %p : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = gawee.mul %y, %q : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}
