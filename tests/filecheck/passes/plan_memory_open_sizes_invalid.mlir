// RUN: gawee-opt %s --plan-memory --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: 'memref.load' op expected the size of a buffer to be computed of named sizes alone
func.func @a_size_that_data_decide(%x: memref<?xf32> {gawee.input = "x", gawee.sizes = ["n"]}, %i: memref<3xindex> {gawee.input = "i"}, %n: index {gawee.size = "n"}) {
  %c2 = arith.constant 2 : index
  %count = memref.load %i[%c2] : memref<3xindex>
  %one = arith.constant 1.0 : f32
  %a = memref.alloc(%count) : memref<?xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<?xf32>)
  func.return
}

// -----

// CHECK: error: 'memref.alloc' op expected no workspace yet where buffers of open sizes are allocated
func.func @a_workspace_that_is_there(%x: memref<?xf32> {gawee.input = "x", gawee.sizes = ["n"]}, %n: index {gawee.size = "n"}, %w: memref<64xi8> {gawee.workspace}) {
  %one = arith.constant 1.0 : f32
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<?xf32>)
  func.return
}
