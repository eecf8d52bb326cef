// RUN: gawee-opt %s -p 'convert-to-strassen{target=znver3 num-threads=1}' | filecheck %s
// RUN: gawee-opt %s -p 'convert-to-strassen{target=znver3 num-threads=2}' | filecheck --check-prefix THREADS %s

// Sums of quarters of %x and of %w, in which rows are terms; seven products; each quarter of %y is what
// the last kernel that adds to it makes of the sum. Kernels that threads share stay.
// CHECK-LABEL: func.func @a_product_is_seven_of_quarters
// CHECK:         %[[S1:.*]] = gawee.kernel parallel [66, 179] ins(%x, %x :
// CHECK-SAME:      maps [affine_map<(d0, d1) -> ((d0 + 66), d1)>, affine_map<(d0, d1) -> ((d0 + 66), (d1 + 179))>,
// CHECK:           arith.addf
// CHECK:         %[[S2:.*]] = gawee.kernel parallel [66, 179] ins(%[[S1]], %x :
// CHECK:           arith.subf
// CHECK:         %[[S3:.*]] = gawee.kernel parallel [66, 179] ins(%x, %x :
// CHECK-SAME:      maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ((d0 + 66), d1)>,
// CHECK:         %[[S4:.*]] = gawee.kernel parallel [66, 179] ins(%x, %[[S2]] :
// CHECK-SAME:      maps [affine_map<(d0, d1) -> (d0, (d1 + 179))>,
// CHECK:         %[[T1:.*]] = gawee.kernel parallel [144, 179] ins(%w, %w :
// CHECK-SAME:      maps [affine_map<(d0, d1) -> ((d0 + 144), d1)>, affine_map<(d0, d1) -> (d0, d1)>,
// CHECK:         %[[T2:.*]] = gawee.kernel parallel [144, 179] ins(%w, %[[T1]] :
// CHECK-SAME:      maps [affine_map<(d0, d1) -> ((d0 + 144), (d1 + 179))>,
// CHECK:         %[[T3:.*]] = gawee.kernel parallel [144, 179] ins(%w, %w :
// CHECK:         %[[T4:.*]] = gawee.kernel parallel [144, 179] ins(%w, %[[T2]] :
// CHECK-SAME:      maps [affine_map<(d0, d1) -> (d0, (d1 + 179))>,
// CHECK:         %[[P1:.*]] = gawee.kernel parallel [66, 144] reduce [179] ins(%x, %w :
// CHECK:         %[[C11:.*]] = gawee.kernel parallel [66, 144] reduce [179] ins(%x, %w, %[[P1]], %b :
// CHECK-SAME:      maps [affine_map<(d0, d1, d2) -> (d0, (d2 + 179))>, affine_map<(d0, d1, d2) -> (d1, (d2 + 179))>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d1)>,
// CHECK:           arith.maximumf
// CHECK:         %[[U2:.*]] = gawee.kernel parallel [66, 144] reduce [179] ins(%[[S2]], %[[T2]], %[[P1]] :
// CHECK-NOT:       arith.maximumf
// CHECK:         %[[P5:.*]] = gawee.kernel parallel [66, 144] reduce [179] ins(%[[S1]], %[[T1]] :
// CHECK:         %[[C12:.*]] = gawee.kernel parallel [66, 144] reduce [179] ins(%[[S4]], %w, %[[U2]], %[[P5]], %b :
// CHECK-SAME:      affine_map<(d0, d1, d2) -> ((d1 + 144))>
// CHECK:           arith.maximumf
// CHECK:         %[[U3:.*]] = gawee.kernel parallel [66, 144] reduce [179] ins(%[[S3]], %[[T3]], %[[U2]] :
// CHECK-NOT:       arith.maximumf
// CHECK:         %[[C21:.*]] = gawee.kernel parallel [66, 144] reduce [179] ins(%x, %[[T4]], %[[U3]], %b :
// CHECK:           arith.maximumf
// CHECK:         %[[C22:.*]] = gawee.kernel parallel [66, 144] ins(%[[U3]], %[[P5]], %b :
// CHECK:           arith.maximumf
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<132x288xf32>
// CHECK-NEXT:    %[[Y1:.*]] = tensor.insert_slice %[[C11]] into %[[E]][0, 0] [66, 144] [1, 1]
// CHECK-NEXT:    %[[Y2:.*]] = tensor.insert_slice %[[C12]] into %[[Y1]][0, 144] [66, 144] [1, 1]
// CHECK-NEXT:    %[[Y3:.*]] = tensor.insert_slice %[[C21]] into %[[Y2]][66, 0] [66, 144] [1, 1]
// CHECK-NEXT:    %[[Y:.*]] = tensor.insert_slice %[[C22]] into %[[Y3]][66, 144] [66, 144] [1, 1]
// CHECK-NEXT:    func.return %[[Y]]
// THREADS-LABEL: func.func @a_product_is_seven_of_quarters
// THREADS-NEXT:    gawee.kernel parallel [132, 288] reduce [358]
// THREADS-NOT:     gawee.kernel
// THREADS:         func.return
func.func @a_product_is_seven_of_quarters(%x: tensor<132x358xf32> {gawee.input = "x"}, %w: tensor<288x358xf32> {gawee.parameter = "w"}, %b: tensor<288xf32> {gawee.parameter = "b"}) -> (tensor<132x288xf32> {gawee.output = "y"}) {
  %y = gawee.kernel parallel [132, 288] reduce [358] ins(%x, %w, %b : tensor<132x358xf32>, tensor<288x358xf32>, tensor<288xf32>)
    maps [affine_map<(r, c, k) -> (r, k)>, affine_map<(r, c, k) -> (c, k)>, affine_map<(r, c, k) -> (c)>, affine_map<(r, c, k) -> (r, c)>]
    initial 0.0 : f32 accumulate {
  ^bb0(%p: f32, %q: f32, %e: f32, %t: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %t, %0 : f32
    gawee.yield %1 : f32
  } finish {
  ^bb0(%p: f32, %q: f32, %e: f32, %t: f32):
    %zero = arith.constant 0.0 : f32
    %0 = arith.addf %t, %e : f32
    %1 = arith.maximumf %0, %zero : f32
    gawee.yield %1 : f32
  } : tensor<132x288xf32>
  func.return %y : tensor<132x288xf32>
}
