// RUN: gawee-opt %s -p 'pack-nibble-products{target=znver5}' | filecheck %s
// RUN: gawee-opt %s -p 'pack-nibble-products{target=skylake-avx512}' | filecheck --check-prefix OTHER %s
// RUN: gawee-opt %s -p 'pack-nibble-products{target=znver5},assign-schedules{target=znver5 num-threads=1}' | filecheck --check-prefix ONE %s

// Blocks of 32 floats become multiples of a step of each, in three words of bytes for four of them.
// A step of the product is a block then. OTHER processors multiply floats.
// CHECK-LABEL: func.func @blocks_are_multiplied_as_bytes
// CHECK:         %steps = gawee.kernel parallel [3, 2] reduce [32] ins(%x : tensor<3x64xf32>)
// CHECK:           math.absf
// CHECK:         %multiples = gawee.kernel parallel [3, 2, 32] ins(%x, %steps : tensor<3x64xf32>, tensor<3x2xf32>)
// CHECK:           math.roundeven
// CHECK-NEXT:      arith.fptosi
// CHECK:         %sums = gawee.kernel parallel [3, 2] reduce [32] ins(%multiples : tensor<3x2x32xi32>)
// CHECK:           arith.constant -8 : i32
// CHECK-COUNT-3: %{{digits.*}} = gawee.kernel parallel [3, 2, 8] ins(%multiples, %multiples, %multiples, %multiples :
// CHECK:         %y = gawee.kernel parallel [3, 37] reduce [2] ins(%s, %q, %q, %q, %q, %digits,
// CHECK-SAME:      affine_map<(d0, d1, d2) -> (d1, d2, 0)>, affine_map<(d0, d1, d2) -> (d1, d2, 1)>, affine_map<(d0, d1, d2) -> (d1, d2, 2)>, affine_map<(d0, d1, d2) -> (d1, d2, 3)>
// Words of all places are packed as ONE tensor, for tiles of one vector.
// ONE-LABEL: func.func @blocks_are_multiplied_as_bytes
// ONE:         %[[Q:.*]] = gawee.kernel parallel [37, 2, 4] ins(%q : tensor<37x2x4xi32>)
// ONE:         schedule{{.*}} : tensor<3x2x4x16xi32>
// ONE-NEXT:    %y = gawee.kernel parallel [3, 37] reduce [2] ins(%{{.*}}, %[[Q]], %[[Q]], %[[Q]], %[[Q]], %digits,
// ONE:         schedule #gawee.schedule<loops = [d1 by 16, d2], vector = d1 by 16>
// OTHER-LABEL: func.func @blocks_are_multiplied_as_bytes
// OTHER-NEXT:    gawee.kernel parallel [3, 37] reduce [2, 4] ins(%s, %q, %x,
func.func @blocks_are_multiplied_as_bytes(%x: tensor<3x64xf32> {gawee.input = "x"}, %s: tensor<37x2xf32> {gawee.parameter = "s"}, %q: tensor<37x2x4xi32> {gawee.parameter = "q"})
    -> (tensor<3x37xf32> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [3, 37] reduce [2, 4] ins(%s, %q, %x, %x, %x, %x, %x, %x, %x, %x : tensor<37x2xf32>, tensor<37x2x4xi32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>)
    maps [affine_map<(i, j, b, w) -> (j, b)>, affine_map<(i, j, b, w) -> (j, b, w)>, affine_map<(i, j, b, w) -> (i, b * 32 + w * 4 + 0)>, affine_map<(i, j, b, w) -> (i, b * 32 + w * 4 + 1)>, affine_map<(i, j, b, w) -> (i, b * 32 + w * 4 + 2)>, affine_map<(i, j, b, w) -> (i, b * 32 + w * 4 + 3)>, affine_map<(i, j, b, w) -> (i, b * 32 + w * 4 + 16)>, affine_map<(i, j, b, w) -> (i, b * 32 + w * 4 + 17)>, affine_map<(i, j, b, w) -> (i, b * 32 + w * 4 + 18)>, affine_map<(i, j, b, w) -> (i, b * 32 + w * 4 + 19)>, affine_map<(i, j, b, w) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%f: f32, %u: i32, %x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %t: f32):
    %m0 = arith.constant 15 : i32
    %b0 = arith.andi %u, %m0 : i32
    %f0 = arith.sitofp %b0 : i32 to f32
    %c0 = arith.constant 1.0 : f32
    %n0 = arith.mulf %f0, %c0 : f32
    %z0 = arith.constant -8.0 : f32
    %v0 = arith.addf %n0, %z0 : f32
    %p0 = arith.mulf %x0, %v0 : f32
    %m1 = arith.constant 3840 : i32
    %b1 = arith.andi %u, %m1 : i32
    %f1 = arith.sitofp %b1 : i32 to f32
    %c1 = arith.constant 0.00390625 : f32
    %n1 = arith.mulf %f1, %c1 : f32
    %z1 = arith.constant -8.0 : f32
    %v1 = arith.addf %n1, %z1 : f32
    %p1 = arith.mulf %x1, %v1 : f32
    %s1 = arith.addf %p0, %p1 : f32
    %m2 = arith.constant 983040 : i32
    %b2 = arith.andi %u, %m2 : i32
    %f2 = arith.sitofp %b2 : i32 to f32
    %c2 = arith.constant 1.52587890625e-05 : f32
    %n2 = arith.mulf %f2, %c2 : f32
    %z2 = arith.constant -8.0 : f32
    %v2 = arith.addf %n2, %z2 : f32
    %p2 = arith.mulf %x2, %v2 : f32
    %s2 = arith.addf %s1, %p2 : f32
    %m3 = arith.constant 251658240 : i32
    %b3 = arith.andi %u, %m3 : i32
    %f3 = arith.sitofp %b3 : i32 to f32
    %c3 = arith.constant 5.960464477539063e-08 : f32
    %n3 = arith.mulf %f3, %c3 : f32
    %z3 = arith.constant -8.0 : f32
    %v3 = arith.addf %n3, %z3 : f32
    %p3 = arith.mulf %x3, %v3 : f32
    %s3 = arith.addf %s2, %p3 : f32
    %m4 = arith.constant 240 : i32
    %b4 = arith.andi %u, %m4 : i32
    %f4 = arith.sitofp %b4 : i32 to f32
    %c4 = arith.constant 0.0625 : f32
    %n4 = arith.mulf %f4, %c4 : f32
    %z4 = arith.constant -8.0 : f32
    %v4 = arith.addf %n4, %z4 : f32
    %p4 = arith.mulf %x4, %v4 : f32
    %s4 = arith.addf %s3, %p4 : f32
    %m5 = arith.constant 61440 : i32
    %b5 = arith.andi %u, %m5 : i32
    %f5 = arith.sitofp %b5 : i32 to f32
    %c5 = arith.constant 0.000244140625 : f32
    %n5 = arith.mulf %f5, %c5 : f32
    %z5 = arith.constant -8.0 : f32
    %v5 = arith.addf %n5, %z5 : f32
    %p5 = arith.mulf %x5, %v5 : f32
    %s5 = arith.addf %s4, %p5 : f32
    %m6 = arith.constant 15728640 : i32
    %b6 = arith.andi %u, %m6 : i32
    %f6 = arith.sitofp %b6 : i32 to f32
    %c6 = arith.constant 9.5367431640625e-07 : f32
    %n6 = arith.mulf %f6, %c6 : f32
    %z6 = arith.constant -8.0 : f32
    %v6 = arith.addf %n6, %z6 : f32
    %p6 = arith.mulf %x6, %v6 : f32
    %s6 = arith.addf %s5, %p6 : f32
    %sign = arith.constant -2147483648 : i32
    %turned = arith.xori %u, %sign : i32
    %m7 = arith.constant -268435456 : i32
    %b7 = arith.andi %turned, %m7 : i32
    %f7 = arith.sitofp %b7 : i32 to f32
    %c7 = arith.constant 3.725290298461914e-09 : f32
    %n7 = arith.mulf %f7, %c7 : f32
    %z7 = arith.constant 0.0 : f32
    %v7 = arith.addf %n7, %z7 : f32
    %p7 = arith.mulf %x7, %v7 : f32
    %s7 = arith.addf %s6, %p7 : f32
    %scaled = arith.mulf %f, %s7 : f32
    %sum = arith.addf %t, %scaled : f32
    gawee.yield %sum : f32
  } finish {
  ^bb0(%f: f32, %u: i32, %x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<3x37xf32>
  func.return %y : tensor<3x37xf32>
}

// So do any number of rows, and blocks of one word.
// CHECK-LABEL: func.func @of_any_number_of_rows
// CHECK:         %y = gawee.kernel parallel ["n", 5] reduce [3] counts(n = %n) ins(%s, %q, %digits,
func.func @of_any_number_of_rows(%x: tensor<?x24xf32> {gawee.input = "x", gawee.sizes = ["n", "-"]}, %s: tensor<5x3xf32> {gawee.parameter = "s"}, %q: tensor<5x3x1xi32> {gawee.parameter = "q"})
    -> (tensor<?x5xf32> {gawee.output = "y"}) attributes {gawee.ranges = {n = "1 to 9"}} {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x24xf32>
  %y = gawee.kernel parallel ["n", 5] reduce [3, 1] counts(n = %n) ins(%s, %q, %x, %x, %x, %x, %x, %x, %x, %x : tensor<5x3xf32>, tensor<5x3x1xi32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>)
    maps [affine_map<(i, j, b, w) -> (j, b)>, affine_map<(i, j, b, w) -> (j, b, w)>, affine_map<(i, j, b, w) -> (i, b * 8 + w * 4 + 0)>, affine_map<(i, j, b, w) -> (i, b * 8 + w * 4 + 1)>, affine_map<(i, j, b, w) -> (i, b * 8 + w * 4 + 2)>, affine_map<(i, j, b, w) -> (i, b * 8 + w * 4 + 3)>, affine_map<(i, j, b, w) -> (i, b * 8 + w * 4 + 4)>, affine_map<(i, j, b, w) -> (i, b * 8 + w * 4 + 5)>, affine_map<(i, j, b, w) -> (i, b * 8 + w * 4 + 6)>, affine_map<(i, j, b, w) -> (i, b * 8 + w * 4 + 7)>, affine_map<(i, j, b, w) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%f: f32, %u: i32, %x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %t: f32):
    %m0 = arith.constant 15 : i32
    %b0 = arith.andi %u, %m0 : i32
    %f0 = arith.sitofp %b0 : i32 to f32
    %c0 = arith.constant 1.0 : f32
    %n0 = arith.mulf %f0, %c0 : f32
    %z0 = arith.constant -3.0 : f32
    %v0 = arith.addf %n0, %z0 : f32
    %p0 = arith.mulf %x0, %v0 : f32
    %m1 = arith.constant 3840 : i32
    %b1 = arith.andi %u, %m1 : i32
    %f1 = arith.sitofp %b1 : i32 to f32
    %c1 = arith.constant 0.00390625 : f32
    %n1 = arith.mulf %f1, %c1 : f32
    %z1 = arith.constant -3.0 : f32
    %v1 = arith.addf %n1, %z1 : f32
    %p1 = arith.mulf %x1, %v1 : f32
    %s1 = arith.addf %p0, %p1 : f32
    %m2 = arith.constant 983040 : i32
    %b2 = arith.andi %u, %m2 : i32
    %f2 = arith.sitofp %b2 : i32 to f32
    %c2 = arith.constant 1.52587890625e-05 : f32
    %n2 = arith.mulf %f2, %c2 : f32
    %z2 = arith.constant -3.0 : f32
    %v2 = arith.addf %n2, %z2 : f32
    %p2 = arith.mulf %x2, %v2 : f32
    %s2 = arith.addf %s1, %p2 : f32
    %m3 = arith.constant 251658240 : i32
    %b3 = arith.andi %u, %m3 : i32
    %f3 = arith.sitofp %b3 : i32 to f32
    %c3 = arith.constant 5.960464477539063e-08 : f32
    %n3 = arith.mulf %f3, %c3 : f32
    %z3 = arith.constant -3.0 : f32
    %v3 = arith.addf %n3, %z3 : f32
    %p3 = arith.mulf %x3, %v3 : f32
    %s3 = arith.addf %s2, %p3 : f32
    %m4 = arith.constant 240 : i32
    %b4 = arith.andi %u, %m4 : i32
    %f4 = arith.sitofp %b4 : i32 to f32
    %c4 = arith.constant 0.0625 : f32
    %n4 = arith.mulf %f4, %c4 : f32
    %z4 = arith.constant -3.0 : f32
    %v4 = arith.addf %n4, %z4 : f32
    %p4 = arith.mulf %x4, %v4 : f32
    %s4 = arith.addf %s3, %p4 : f32
    %m5 = arith.constant 61440 : i32
    %b5 = arith.andi %u, %m5 : i32
    %f5 = arith.sitofp %b5 : i32 to f32
    %c5 = arith.constant 0.000244140625 : f32
    %n5 = arith.mulf %f5, %c5 : f32
    %z5 = arith.constant -3.0 : f32
    %v5 = arith.addf %n5, %z5 : f32
    %p5 = arith.mulf %x5, %v5 : f32
    %s5 = arith.addf %s4, %p5 : f32
    %m6 = arith.constant 15728640 : i32
    %b6 = arith.andi %u, %m6 : i32
    %f6 = arith.sitofp %b6 : i32 to f32
    %c6 = arith.constant 9.5367431640625e-07 : f32
    %n6 = arith.mulf %f6, %c6 : f32
    %z6 = arith.constant -3.0 : f32
    %v6 = arith.addf %n6, %z6 : f32
    %p6 = arith.mulf %x6, %v6 : f32
    %s6 = arith.addf %s5, %p6 : f32
    %sign = arith.constant -2147483648 : i32
    %turned = arith.xori %u, %sign : i32
    %m7 = arith.constant -268435456 : i32
    %b7 = arith.andi %turned, %m7 : i32
    %f7 = arith.sitofp %b7 : i32 to f32
    %c7 = arith.constant 3.725290298461914e-09 : f32
    %n7 = arith.mulf %f7, %c7 : f32
    %z7 = arith.constant 5.0 : f32
    %v7 = arith.addf %n7, %z7 : f32
    %p7 = arith.mulf %x7, %v7 : f32
    %s7 = arith.addf %s6, %p7 : f32
    %scaled = arith.mulf %f, %s7 : f32
    %sum = arith.addf %t, %scaled : f32
    gawee.yield %sum : f32
  } finish {
  ^bb0(%f: f32, %u: i32, %x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<?x5xf32> shape ["n", 5]
  func.return %y : tensor<?x5xf32>
}

// Blocks that are not side by side stay.
// CHECK-LABEL: func.func @blocks_that_overlap
// CHECK-NEXT:    gawee.kernel parallel [3, 5] reduce [2, 4] ins(%s, %q, %x,
func.func @blocks_that_overlap(%x: tensor<3x64xf32> {gawee.input = "x"}, %s: tensor<5x2xf32> {gawee.parameter = "s"}, %q: tensor<5x2x4xi32> {gawee.parameter = "q"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [3, 5] reduce [2, 4] ins(%s, %q, %x, %x, %x, %x, %x, %x, %x, %x : tensor<5x2xf32>, tensor<5x2x4xi32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>, tensor<3x64xf32>)
    maps [affine_map<(i, j, b, w) -> (j, b)>, affine_map<(i, j, b, w) -> (j, b, w)>, affine_map<(i, j, b, w) -> (i, b * 16 + w * 4 + 0)>, affine_map<(i, j, b, w) -> (i, b * 16 + w * 4 + 1)>, affine_map<(i, j, b, w) -> (i, b * 16 + w * 4 + 2)>, affine_map<(i, j, b, w) -> (i, b * 16 + w * 4 + 3)>, affine_map<(i, j, b, w) -> (i, b * 16 + w * 4 + 16)>, affine_map<(i, j, b, w) -> (i, b * 16 + w * 4 + 17)>, affine_map<(i, j, b, w) -> (i, b * 16 + w * 4 + 18)>, affine_map<(i, j, b, w) -> (i, b * 16 + w * 4 + 19)>, affine_map<(i, j, b, w) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%f: f32, %u: i32, %x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %t: f32):
    %m0 = arith.constant 15 : i32
    %b0 = arith.andi %u, %m0 : i32
    %f0 = arith.sitofp %b0 : i32 to f32
    %c0 = arith.constant 1.0 : f32
    %n0 = arith.mulf %f0, %c0 : f32
    %z0 = arith.constant -8.0 : f32
    %v0 = arith.addf %n0, %z0 : f32
    %p0 = arith.mulf %x0, %v0 : f32
    %m1 = arith.constant 3840 : i32
    %b1 = arith.andi %u, %m1 : i32
    %f1 = arith.sitofp %b1 : i32 to f32
    %c1 = arith.constant 0.00390625 : f32
    %n1 = arith.mulf %f1, %c1 : f32
    %z1 = arith.constant -8.0 : f32
    %v1 = arith.addf %n1, %z1 : f32
    %p1 = arith.mulf %x1, %v1 : f32
    %s1 = arith.addf %p0, %p1 : f32
    %m2 = arith.constant 983040 : i32
    %b2 = arith.andi %u, %m2 : i32
    %f2 = arith.sitofp %b2 : i32 to f32
    %c2 = arith.constant 1.52587890625e-05 : f32
    %n2 = arith.mulf %f2, %c2 : f32
    %z2 = arith.constant -8.0 : f32
    %v2 = arith.addf %n2, %z2 : f32
    %p2 = arith.mulf %x2, %v2 : f32
    %s2 = arith.addf %s1, %p2 : f32
    %m3 = arith.constant 251658240 : i32
    %b3 = arith.andi %u, %m3 : i32
    %f3 = arith.sitofp %b3 : i32 to f32
    %c3 = arith.constant 5.960464477539063e-08 : f32
    %n3 = arith.mulf %f3, %c3 : f32
    %z3 = arith.constant -8.0 : f32
    %v3 = arith.addf %n3, %z3 : f32
    %p3 = arith.mulf %x3, %v3 : f32
    %s3 = arith.addf %s2, %p3 : f32
    %m4 = arith.constant 240 : i32
    %b4 = arith.andi %u, %m4 : i32
    %f4 = arith.sitofp %b4 : i32 to f32
    %c4 = arith.constant 0.0625 : f32
    %n4 = arith.mulf %f4, %c4 : f32
    %z4 = arith.constant -8.0 : f32
    %v4 = arith.addf %n4, %z4 : f32
    %p4 = arith.mulf %x4, %v4 : f32
    %s4 = arith.addf %s3, %p4 : f32
    %m5 = arith.constant 61440 : i32
    %b5 = arith.andi %u, %m5 : i32
    %f5 = arith.sitofp %b5 : i32 to f32
    %c5 = arith.constant 0.000244140625 : f32
    %n5 = arith.mulf %f5, %c5 : f32
    %z5 = arith.constant -8.0 : f32
    %v5 = arith.addf %n5, %z5 : f32
    %p5 = arith.mulf %x5, %v5 : f32
    %s5 = arith.addf %s4, %p5 : f32
    %m6 = arith.constant 15728640 : i32
    %b6 = arith.andi %u, %m6 : i32
    %f6 = arith.sitofp %b6 : i32 to f32
    %c6 = arith.constant 9.5367431640625e-07 : f32
    %n6 = arith.mulf %f6, %c6 : f32
    %z6 = arith.constant -8.0 : f32
    %v6 = arith.addf %n6, %z6 : f32
    %p6 = arith.mulf %x6, %v6 : f32
    %s6 = arith.addf %s5, %p6 : f32
    %sign = arith.constant -2147483648 : i32
    %turned = arith.xori %u, %sign : i32
    %m7 = arith.constant -268435456 : i32
    %b7 = arith.andi %turned, %m7 : i32
    %f7 = arith.sitofp %b7 : i32 to f32
    %c7 = arith.constant 3.725290298461914e-09 : f32
    %n7 = arith.mulf %f7, %c7 : f32
    %z7 = arith.constant 0.0 : f32
    %v7 = arith.addf %n7, %z7 : f32
    %p7 = arith.mulf %x7, %v7 : f32
    %s7 = arith.addf %s6, %p7 : f32
    %scaled = arith.mulf %f, %s7 : f32
    %sum = arith.addf %t, %scaled : f32
    gawee.yield %sum : f32
  } finish {
  ^bb0(%f: f32, %u: i32, %x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// So do those whose sums are more than an i32.
// CHECK-LABEL: func.func @blocks_that_are_long
// CHECK-NEXT:    gawee.kernel parallel [3, 5] reduce [2, 8] ins(%s, %q, %x,
func.func @blocks_that_are_long(%x: tensor<3x128xf32> {gawee.input = "x"}, %s: tensor<5x2xf32> {gawee.parameter = "s"}, %q: tensor<5x2x8xi32> {gawee.parameter = "q"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [3, 5] reduce [2, 8] ins(%s, %q, %x, %x, %x, %x, %x, %x, %x, %x : tensor<5x2xf32>, tensor<5x2x8xi32>, tensor<3x128xf32>, tensor<3x128xf32>, tensor<3x128xf32>, tensor<3x128xf32>, tensor<3x128xf32>, tensor<3x128xf32>, tensor<3x128xf32>, tensor<3x128xf32>)
    maps [affine_map<(i, j, b, w) -> (j, b)>, affine_map<(i, j, b, w) -> (j, b, w)>, affine_map<(i, j, b, w) -> (i, b * 64 + w * 4 + 0)>, affine_map<(i, j, b, w) -> (i, b * 64 + w * 4 + 1)>, affine_map<(i, j, b, w) -> (i, b * 64 + w * 4 + 2)>, affine_map<(i, j, b, w) -> (i, b * 64 + w * 4 + 3)>, affine_map<(i, j, b, w) -> (i, b * 64 + w * 4 + 32)>, affine_map<(i, j, b, w) -> (i, b * 64 + w * 4 + 33)>, affine_map<(i, j, b, w) -> (i, b * 64 + w * 4 + 34)>, affine_map<(i, j, b, w) -> (i, b * 64 + w * 4 + 35)>, affine_map<(i, j, b, w) -> (i, j)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%f: f32, %u: i32, %x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %t: f32):
    %m0 = arith.constant 15 : i32
    %b0 = arith.andi %u, %m0 : i32
    %f0 = arith.sitofp %b0 : i32 to f32
    %c0 = arith.constant 1.0 : f32
    %n0 = arith.mulf %f0, %c0 : f32
    %z0 = arith.constant -8.0 : f32
    %v0 = arith.addf %n0, %z0 : f32
    %p0 = arith.mulf %x0, %v0 : f32
    %m1 = arith.constant 3840 : i32
    %b1 = arith.andi %u, %m1 : i32
    %f1 = arith.sitofp %b1 : i32 to f32
    %c1 = arith.constant 0.00390625 : f32
    %n1 = arith.mulf %f1, %c1 : f32
    %z1 = arith.constant -8.0 : f32
    %v1 = arith.addf %n1, %z1 : f32
    %p1 = arith.mulf %x1, %v1 : f32
    %s1 = arith.addf %p0, %p1 : f32
    %m2 = arith.constant 983040 : i32
    %b2 = arith.andi %u, %m2 : i32
    %f2 = arith.sitofp %b2 : i32 to f32
    %c2 = arith.constant 1.52587890625e-05 : f32
    %n2 = arith.mulf %f2, %c2 : f32
    %z2 = arith.constant -8.0 : f32
    %v2 = arith.addf %n2, %z2 : f32
    %p2 = arith.mulf %x2, %v2 : f32
    %s2 = arith.addf %s1, %p2 : f32
    %m3 = arith.constant 251658240 : i32
    %b3 = arith.andi %u, %m3 : i32
    %f3 = arith.sitofp %b3 : i32 to f32
    %c3 = arith.constant 5.960464477539063e-08 : f32
    %n3 = arith.mulf %f3, %c3 : f32
    %z3 = arith.constant -8.0 : f32
    %v3 = arith.addf %n3, %z3 : f32
    %p3 = arith.mulf %x3, %v3 : f32
    %s3 = arith.addf %s2, %p3 : f32
    %m4 = arith.constant 240 : i32
    %b4 = arith.andi %u, %m4 : i32
    %f4 = arith.sitofp %b4 : i32 to f32
    %c4 = arith.constant 0.0625 : f32
    %n4 = arith.mulf %f4, %c4 : f32
    %z4 = arith.constant -8.0 : f32
    %v4 = arith.addf %n4, %z4 : f32
    %p4 = arith.mulf %x4, %v4 : f32
    %s4 = arith.addf %s3, %p4 : f32
    %m5 = arith.constant 61440 : i32
    %b5 = arith.andi %u, %m5 : i32
    %f5 = arith.sitofp %b5 : i32 to f32
    %c5 = arith.constant 0.000244140625 : f32
    %n5 = arith.mulf %f5, %c5 : f32
    %z5 = arith.constant -8.0 : f32
    %v5 = arith.addf %n5, %z5 : f32
    %p5 = arith.mulf %x5, %v5 : f32
    %s5 = arith.addf %s4, %p5 : f32
    %m6 = arith.constant 15728640 : i32
    %b6 = arith.andi %u, %m6 : i32
    %f6 = arith.sitofp %b6 : i32 to f32
    %c6 = arith.constant 9.5367431640625e-07 : f32
    %n6 = arith.mulf %f6, %c6 : f32
    %z6 = arith.constant -8.0 : f32
    %v6 = arith.addf %n6, %z6 : f32
    %p6 = arith.mulf %x6, %v6 : f32
    %s6 = arith.addf %s5, %p6 : f32
    %sign = arith.constant -2147483648 : i32
    %turned = arith.xori %u, %sign : i32
    %m7 = arith.constant -268435456 : i32
    %b7 = arith.andi %turned, %m7 : i32
    %f7 = arith.sitofp %b7 : i32 to f32
    %c7 = arith.constant 3.725290298461914e-09 : f32
    %n7 = arith.mulf %f7, %c7 : f32
    %z7 = arith.constant 0.0 : f32
    %v7 = arith.addf %n7, %z7 : f32
    %p7 = arith.mulf %x7, %v7 : f32
    %s7 = arith.addf %s6, %p7 : f32
    %scaled = arith.mulf %f, %s7 : f32
    %sum = arith.addf %t, %scaled : f32
    gawee.yield %sum : f32
  } finish {
  ^bb0(%f: f32, %u: i32, %x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %x6: f32, %x7: f32, %t: f32):
    gawee.yield %t : f32
  } : tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}
