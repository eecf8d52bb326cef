"""A product and a softmax of rows, in a batch and of a length that are open."""

ROWS = """
func.func @main(%x: tensor<?x?x6xf32> {gawee.input = "x", gawee.sizes = ["batch", "length", "-"]},
                %w: tensor<5x6xf32> {gawee.parameter = "w"})
    -> (tensor<?x?x5xf32> {gawee.output = "y"})
    attributes {gawee.ranges = {batch = "1 to 8", length = "1 to 64"}} {
  %0 = gawee.matmul %x, %w : (tensor<?x?x6xf32>, tensor<5x6xf32>) -> tensor<?x?x5xf32>
  %1 = gawee.softmax %0 axis 1 : (tensor<?x?x5xf32>) -> tensor<?x?x5xf32>
  func.return %1 : tensor<?x?x5xf32>
}
"""
