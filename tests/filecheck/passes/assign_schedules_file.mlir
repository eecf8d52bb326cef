// RUN: gawee-opt --assign-schedules='target=skylake-avx512 schedules="%S/inputs/schedules.jsonl"' %s | filecheck %s
// RUN: gawee-opt --assign-schedules='target=haswell schedules="%S/inputs/schedules.jsonl"' %s | filecheck %s --check-prefix=OTHER
// RUN: not gawee-opt --assign-schedules='target=skylake-avx512 schedules="%S/inputs/schedules_misfit.jsonl"' %s 2>&1 | filecheck %s --check-prefix=MISFIT
// RUN: not gawee-opt --assign-schedules='target=skylake-avx512 schedules="%S/inputs/schedules_unreadable.jsonl"' %s 2>&1 | filecheck %s --check-prefix=UNREADABLE
// RUN: not gawee-opt --assign-schedules='schedules="%S/inputs/schedules_that_are_absent.jsonl"' %s 2>&1 | filecheck %s --check-prefix=NONE

// MISFIT:      assign_schedules_file.mlir:{{[0-9]+}}:3: error: 'gawee.kernel' op cannot have the schedule: expected a step of 1 to 6 in 'd0 by 8', got 8
// MISFIT-NEXT: hint: the schedule is that of {{.*}}schedules_misfit.jsonl:1

// UNREADABLE:      schedules_unreadable.jsonl:1: error: cannot read schedule '#gawee.schedule<loops = [m, n]>': expected a dimension, such as d0, got 'm'
// UNREADABLE-NEXT: schedules_unreadable.jsonl:3: error: expected a 'schedule', 'steps', or 'direct' or 'winograd' as 'algorithm', got "fft"
// UNREADABLE-NEXT: schedules_unreadable.jsonl:4: error: expected a JSON object, got list

// NONE: error: cannot open '{{.*}}schedules_that_are_absent.jsonl'

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: @a_product_is_run_as_the_file_says
// CHECK: schedule #gawee.schedule<loops = [d1 by 16, d0 by 2, d2], vector = d1 by 16>
// OTHER: schedule #gawee.schedule<loops = [d0, d1, d2]>

func.func @a_product_is_run_as_the_file_says(%x: tensor<6x7xf32>, %w: tensor<7x32xf32>) -> tensor<6x32xf32> {
  %y = gawee.kernel parallel [6, 32] reduce [7] ins(%x, %w : tensor<6x7xf32>, tensor<7x32xf32>) maps [#x, #w, #y] initial 0.0 : f32
    accumulate {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      gawee.yield %1 : f32
    } finish {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      gawee.yield %sum : f32
    } : tensor<6x32xf32>
  func.return %y : tensor<6x32xf32>
}

// CHECK-LABEL: @a_schedule_in_the_text_is_kept
// CHECK: schedule #gawee.schedule<loops = [d0, d1, d2]>
func.func @a_schedule_in_the_text_is_kept(%x: tensor<6x7xf32>, %w: tensor<7x32xf32>) -> tensor<6x32xf32> {
  %y = gawee.kernel parallel [6, 32] reduce [7] ins(%x, %w : tensor<6x7xf32>, tensor<7x32xf32>) maps [#x, #w, #y] initial 0.0 : f32
    accumulate {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      gawee.yield %1 : f32
    } finish {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      gawee.yield %sum : f32
    } schedule #gawee.schedule<loops = [d0, d1, d2]> : tensor<6x32xf32>
  func.return %y : tensor<6x32xf32>
}
