// RUN: gawee-opt --arith-add-fastmath=flags=none %s | filecheck %s --check-prefix=NONE
// RUN: gawee-opt %s --arith-add-fastmath='flags=nnan,ninf' | filecheck %s --check-prefix=TWO
// RUN: gawee-opt %s --arith-add-fastmath='{flags=nnan,ninf}' | filecheck %s --check-prefix=TWO
// RUN: gawee-opt -p 'arith-add-fastmath{flags=nnan,ninf},cse' %s | filecheck %s --check-prefix=TWO
// RUN: gawee-opt --pass-pipeline='builtin.module(arith-add-fastmath{flags=nnan,ninf})' %s | filecheck %s --check-prefix=TWO
// RUN: gawee-opt --dmp-to-mpi='mpi_init=false generate_debug_prints=true' %s | filecheck %s --check-prefix=NONE

// NONE-LABEL: func.func @options_reach_the_pass_in_every_spelling
// NONE:       arith.addf %{{.*}}, %{{.*}} : f32
// TWO-LABEL:  func.func @options_reach_the_pass_in_every_spelling
// TWO:        arith.addf %{{.*}}, %{{.*}} fastmath<nnan,ninf> : f32
func.func @options_reach_the_pass_in_every_spelling(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
