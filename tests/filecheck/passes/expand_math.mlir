// RUN: gawee-opt %s --expand-math --split-input-file | filecheck %s
// RUN: gawee-opt %s --expand-math="functions=erf" --split-input-file | filecheck %s --check-prefix ONLY

// The argument less a whole multiple of ln 2, a polynomial, and a power of two made of its bits.
// CHECK-LABEL: func.func @exp_of_vectors_is_a_polynomial_times_a_power_of_two
// CHECK-NOT:     math.exp
// CHECK:         [[N:%.*]] = math.roundeven {{%.*}} : vector<16xf32>
// CHECK:         math.fma [[N]], {{%.*}}, {{%.*}} : vector<16xf32>
// CHECK:         arith.fptosi {{%.*}} : vector<16xf32> to vector<16xi32>
// CHECK:         arith.bitcast {{%.*}} : vector<16xi32> to vector<16xf32>
// CHECK:         %y = arith.mulf {{%.*}}, {{%.*}} : vector<16xf32>
// CHECK-NEXT:    return %y : vector<16xf32>
// ONLY-LABEL:  func.func @exp_of_vectors_is_a_polynomial_times_a_power_of_two
// ONLY-NEXT:     math.exp
func.func @exp_of_vectors_is_a_polynomial_times_a_power_of_two(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// CHECK-LABEL: func.func @erf_of_a_scalar_is_a_quotient_of_polynomials
// CHECK-NOT:     math.erf
// CHECK:         [[Q:%.*]] = arith.divf {{%.*}}, {{%.*}} : f32
// CHECK:         arith.select {{%.*}}, {{%.*}}, [[Q]] : f32
// ONLY-LABEL:  func.func @erf_of_a_scalar_is_a_quotient_of_polynomials
// ONLY-NOT:      math.erf
// ONLY:          arith.divf
func.func @erf_of_a_scalar_is_a_quotient_of_polynomials(%x: f32) -> f32 {
  %y = math.erf %x : f32
  return %y : f32
}

// -----

// CHECK-LABEL: func.func @half_precision_is_computed_in_single
// CHECK:         arith.extf %x : f16 to f32
// CHECK:         %y = arith.truncf {{%.*}} : f32 to f16
// CHECK-NEXT:    return %y : f16
func.func @half_precision_is_computed_in_single(%x: f16) -> f16 {
  %y = math.tanh %x : f16
  return %y : f16
}

// -----

// CHECK-LABEL: func.func @expm1_is_computed_on_doubles_and_rounded_once
// CHECK-NEXT:    [[X:%.*]] = arith.extf %x : vector<8xf32> to vector<8xf64>
// CHECK-NOT:     math.expm1
// CHECK:         %y = arith.truncf {{%.*}} : vector<8xf64> to vector<8xf32>
// CHECK-NEXT:    return %y : vector<8xf32>
func.func @expm1_is_computed_on_doubles_and_rounded_once(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.expm1 %x : vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// CHECK-LABEL: func.func @one_large_angle_leaves_all_lanes_to_libm
// CHECK:         [[FAR:%.*]] = arith.cmpf ogt, {{%.*}}, {{%.*}} : vector<8xf32>
// CHECK-NEXT:    [[ANY:%.*]] = vector.reduction <or>, [[FAR]] : vector<8xi1> into i1
// CHECK-NEXT:    %y = scf.if [[ANY]] -> (vector<8xf32>) {
// CHECK-NEXT:      [[LIBM:%.*]] = math.sin %x : vector<8xf32>
// CHECK-NEXT:      scf.yield [[LIBM]] : vector<8xf32>
// CHECK-NEXT:    } else {
// CHECK-NOT:       math.sin
func.func @one_large_angle_leaves_all_lanes_to_libm(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.sin %x : vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// CHECK-LABEL: func.func @a_power_takes_two_numbers
// CHECK:         arith.extf %x : f32 to f64
// CHECK-NEXT:    arith.extf %y : f32 to f64
// CHECK-NOT:     math.powf
// CHECK:         [[POWER:%.*]] = arith.truncf {{%.*}} : f64 to f32
// CHECK-NOT:     f64
// CHECK:         math.copysign [[POWER]], {{%.*}} : f32
func.func @a_power_takes_two_numbers(%x: f32, %y: f32) -> f32 {
  %z = math.powf %x, %y : f32
  return %z : f32
}

// -----

// CHECK-LABEL: func.func @functions_of_doubles_are_expanded_where_two_units_are_kept
// CHECK-NOT:     math.exp
// CHECK:         math.sin %y : f64
func.func @functions_of_doubles_are_expanded_where_two_units_are_kept(%x: f64, %y: f64) -> (f64, f64) {
  %a = math.exp %x : f64
  %b = math.sin %y : f64
  return %a, %b : f64, f64
}

// -----

// CHECK-LABEL: func.func @a_remainder_is_left_to_libm_where_its_quotient_is_too_large
// CHECK:         [[FAR:%.*]] = arith.cmpf ogt, {{%.*}}, {{%.*}} : vector<8xf32>
// CHECK-NEXT:    [[ANY:%.*]] = vector.reduction <or>, [[FAR]] : vector<8xi1> into i1
// CHECK-NEXT:    %z = scf.if [[ANY]] -> (vector<8xf32>) {
// CHECK-NEXT:      arith.remf %x, %y : vector<8xf32>
// CHECK:         } else {
// CHECK-NOT:       arith.remf
// CHECK:           math.trunc {{%.*}} : vector<8xf64>
// CHECK:         }
func.func @a_remainder_is_left_to_libm_where_its_quotient_is_too_large(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %z = arith.remf %x, %y : vector<8xf32>
  return %z : vector<8xf32>
}
