// RUN: gawee-opt --verify-diagnostics --split-input-file %s | filecheck %s

// PrefetchOp C1: an index for each dimension
// CHECK: error: 'memref.prefetch' op expected 2 indices, got 1
func.func @an_index_too_few(%m: memref<4x7xf32>, %i: index) {
  memref.prefetch %m[%i], read, locality<3>, data : memref<4x7xf32>
  return
}

// -----

// PrefetchOp C2: the locality
// CHECK: error: 'memref.prefetch' op expected a locality from 0 to 3, got 4
func.func @more_than_the_first_cache(%m: memref<5xf32>, %i: index) {
  memref.prefetch %m[%i], read, locality<4>, data : memref<5xf32>
  return
}

// -----

// CHECK: error: expected 'read' or 'write'
func.func @a_word_that_says_nothing_of_the_access(%m: memref<5xf32>, %i: index) {
  memref.prefetch %m[%i], often, locality<3>, data : memref<5xf32>
  return
}

// -----

// CHECK: error: expected 'instr' or 'data'
func.func @a_cache_that_there_is_not(%m: memref<5xf32>, %i: index) {
  memref.prefetch %m[%i], read, locality<3>, other : memref<5xf32>
  return
}
