// RUN: gawee-opt --share-copies --split-input-file %s | filecheck %s

// One function does what two did: counts and strides of six loops are its arguments. Blocks of 3 x 5 of the
// first are 5 whole ones along d0, and 7 along d1. The second is a transposition.
// CHECK-LABEL: func.func @prepare
// CHECK-DAG:     %[[C0:[^ ]*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:[^ ]*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C3:[^ ]*]] = arith.constant 3 : index
// CHECK-DAG:     %[[C5:[^ ]*]] = arith.constant 5 : index
// CHECK-DAG:     %[[C7:[^ ]*]] = arith.constant 7 : index
// CHECK-DAG:     %[[C21:[^ ]*]] = arith.constant 21 : index
// CHECK:         %[[V0:.*]] = memref.reinterpret_cast %v to offset: [0], sizes: [105], strides: [1]
// CHECK-NEXT:    %[[V:.*]] = "memref.cast"(%[[V0]]) : {{.*}} -> memref<?xf32>
// CHECK-NEXT:    %[[P0:.*]] = memref.reinterpret_cast %p to offset: [0], sizes: [105], strides: [1]
// CHECK-NEXT:    %[[P:.*]] = "memref.cast"(%[[P0]]) : {{.*}} -> memref<?xf32>
// CHECK-NEXT:    func.call @strided_copy_f32(%[[V]], %[[P]], %[[C0]], %[[C0]],
// CHECK-SAME:      %[[C5]], %[[C7]], %[[C1]], %[[C1]], %[[C1]], %[[C3]],
// CHECK-SAME:      %[[C21]], %[[C1]], %[[C0]], %[[C0]], %[[C0]], %[[C7]],
// CHECK-SAME:      %[[C21]], %[[C3]], %[[C0]], %[[C0]], %[[C0]], %[[C1]])
// CHECK:         func.call @strided_copy_f32(
// CHECK-NEXT:    func.return
// CHECK:       func.func private @strided_copy_f32(%source: memref<?xf32>, %target: memref<?xf32>,
// CHECK-COUNT-6: scf.for
// CHECK:         %[[E:.*]] = memref.load %source[
// CHECK-NEXT:    memref.store %[[E]], %target[
// CHECK-NOT:   gawee.kernel
func.func @prepare(%v: memref<15x7xf32> {gawee.parameter = "v"}, %p: memref<5x7x3xf32> {gawee.output = "p"},
                   %w: memref<11x13xf32> {gawee.parameter = "w"}, %q: memref<13x11xf32> {gawee.output = "q"}) {
  func.call @move_0(%v, %p) : (memref<15x7xf32>, memref<5x7x3xf32>) -> ()
  func.call @move_1(%w, %q) : (memref<11x13xf32>, memref<13x11xf32>) -> ()
  func.return
}
func.func private @move_0(%from: memref<15x7xf32>, %to: memref<5x7x3xf32>) {
  gawee.kernel parallel [15, 7] ins(%from : memref<15x7xf32>) outs(%to) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0 floordiv 3, d1, d0 mod 3)>] finish {
  ^bb0(%x: f32):
    gawee.yield %x : f32
  } : memref<5x7x3xf32>
  func.return
}
func.func private @move_1(%from: memref<11x13xf32>, %to: memref<13x11xf32>) {
  gawee.kernel parallel [11, 13] ins(%from : memref<11x13xf32>) outs(%to) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>] finish {
  ^bb0(%x: f32):
    gawee.yield %x : f32
  } : memref<13x11xf32>
  func.return
}

// -----

// The last block of 3 has two rows: zero goes everywhere first, then the whole blocks are copied,
// and the rest from row 15 of the source on, element 75, to element 75 of the target.
// CHECK:       "memref.global"() <{sym_name = "strided_copy_i8.zero", type = memref<1xi8>, initial_value = dense<0>
// CHECK-LABEL: func.func @prepare
// CHECK-DAG:     %[[C0:[^ ]*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C75:[^ ]*]] = arith.constant 75 : index
// CHECK-DAG:     %[[C90:[^ ]*]] = arith.constant 90 : index
// CHECK:         memref.get_global @strided_copy_i8.zero
// CHECK:         func.call @strided_copy_i8({{[^ ]*}}, {{[^ ]*}}, %[[C0]], %[[C0]], {{.*}}, %[[C90]], %[[C0]],
// CHECK:         func.call @strided_copy_i8({{[^ ]*}}, {{[^ ]*}}, %[[C0]], %[[C0]],
// CHECK:         func.call @strided_copy_i8({{[^ ]*}}, {{[^ ]*}}, %[[C75]], %[[C75]],
// CHECK:         func.call @strided_copy_i8(
// CHECK-NEXT:    func.return
// CHECK:         "scf.parallel"
// CHECK-COUNT-4: scf.for
func.func @prepare(%v: memref<17x5xi8> {gawee.parameter = "v"}, %p: memref<6x5x3xi8> {gawee.output = "p"},
                   %w: memref<11x13xi8> {gawee.parameter = "w"}, %q: memref<13x11xi8> {gawee.output = "q"}) {
  func.call @move_0(%v, %p) : (memref<17x5xi8>, memref<6x5x3xi8>) -> ()
  func.call @move_1(%w, %q) : (memref<11x13xi8>, memref<13x11xi8>) -> ()
  func.return
}
func.func private @move_0(%from: memref<17x5xi8>, %to: memref<6x5x3xi8>) {
  gawee.kernel parallel [17, 5] ins(%from : memref<17x5xi8>) outs(%to) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0 floordiv 3, d1, d0 mod 3)>] finish {
  ^bb0(%x: i8):
    gawee.yield %x : i8
  } schedule #gawee.schedule<loops = [d0, d1], parallel = 1> : memref<6x5x3xi8>
  func.return
}
func.func private @move_1(%from: memref<11x13xi8>, %to: memref<13x11xi8>) {
  gawee.kernel parallel [11, 13] ins(%from : memref<11x13xi8>) outs(%to) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>] finish {
  ^bb0(%x: i8):
    gawee.yield %x : i8
  } : memref<13x11xi8>
  func.return
}

// -----

// A row of 32 is copied 16 at a time.
// CHECK-LABEL: func.func @prepare
// CHECK-DAG:     %[[C16:[^ ]*]] = arith.constant 16 : index
// CHECK-DAG:     %[[C80:[^ ]*]] = arith.constant 80 : index
// CHECK-DAG:     %[[C2:[^ ]*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C5:[^ ]*]] = arith.constant 5 : index
// CHECK:         func.call @strided_copy_f32({{[^ ]*}}, {{[^ ]*}}, {{[^ ]*}}, {{[^ ]*}}, %[[C2]], %[[C5]], {{[^ ]*}}, {{[^ ]*}}, {{[^ ]*}}, %[[C16]], %[[C80]],
func.func @prepare(%v: memref<32x5xf32> {gawee.parameter = "v"}, %p: memref<5x32xf32> {gawee.output = "p"},
                   %w: memref<11x13xf32> {gawee.parameter = "w"}, %q: memref<13x11xf32> {gawee.output = "q"}) {
  func.call @move_0(%v, %p) : (memref<32x5xf32>, memref<5x32xf32>) -> ()
  func.call @move_1(%w, %q) : (memref<11x13xf32>, memref<13x11xf32>) -> ()
  func.return
}
func.func private @move_0(%from: memref<32x5xf32>, %to: memref<5x32xf32>) {
  gawee.kernel parallel [32, 5] ins(%from : memref<32x5xf32>) outs(%to) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>] finish {
  ^bb0(%x: f32):
    gawee.yield %x : f32
  } : memref<5x32xf32>
  func.return
}
func.func private @move_1(%from: memref<11x13xf32>, %to: memref<13x11xf32>) {
  gawee.kernel parallel [11, 13] ins(%from : memref<11x13xf32>) outs(%to) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>] finish {
  ^bb0(%x: f32):
    gawee.yield %x : f32
  } : memref<13x11xf32>
  func.return
}

// -----

// What computes, reads every second element, or leaves another number than zero around it is no
// such copy.
// CHECK-LABEL: func.func @prepare
// CHECK-NEXT:    func.call @move_0
// CHECK-NEXT:    func.call @move_1
// CHECK-NEXT:    func.call @move_2
// CHECK-NEXT:    func.return
// CHECK-COUNT-3: gawee.kernel
func.func @prepare(%v: memref<15x7xf32> {gawee.parameter = "v"}, %p: memref<7x15xf32> {gawee.output = "p"},
                   %r: memref<7x8xf32> {gawee.output = "r"}, %s: memref<5x7x4xf32> {gawee.output = "s"}) {
  func.call @move_0(%v, %p) : (memref<15x7xf32>, memref<7x15xf32>) -> ()
  func.call @move_1(%v, %r) : (memref<15x7xf32>, memref<7x8xf32>) -> ()
  func.call @move_2(%v, %s) : (memref<15x7xf32>, memref<5x7x4xf32>) -> ()
  func.return
}
func.func private @move_0(%from: memref<15x7xf32>, %to: memref<7x15xf32>) {
  gawee.kernel parallel [15, 7] ins(%from : memref<15x7xf32>) outs(%to) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>] finish {
  ^bb0(%x: f32):
    %0 = arith.negf %x : f32
    gawee.yield %0 : f32
  } : memref<7x15xf32>
  func.return
}
func.func private @move_1(%from: memref<15x7xf32>, %to: memref<7x8xf32>) {
  gawee.kernel parallel [8, 7] ins(%from : memref<15x7xf32>) outs(%to) maps [affine_map<(d0, d1) -> (d0 * 2, d1)>, affine_map<(d0, d1) -> (d1, d0)>] finish {
  ^bb0(%x: f32):
    gawee.yield %x : f32
  } : memref<7x8xf32>
  func.return
}
func.func private @move_2(%from: memref<15x7xf32>, %to: memref<5x7x4xf32>) {
  gawee.kernel parallel [15, 7] ins(%from : memref<15x7xf32>) outs(%to) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>] outside 1.0 : f32 finish {
  ^bb0(%x: f32):
    gawee.yield %x : f32
  } : memref<5x7x4xf32>
  func.return
}

// -----

// Only weights are copied so: what @main moves is moved by code for its sizes.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    func.call @move_0
// CHECK-NEXT:    func.call @move_1
// CHECK-NEXT:    func.return
// CHECK-COUNT-2: gawee.kernel
func.func @main(%v: memref<15x7xf32>, %p: memref<7x15xf32>, %w: memref<11x13xf32>, %q: memref<13x11xf32>) {
  func.call @move_0(%v, %p) : (memref<15x7xf32>, memref<7x15xf32>) -> ()
  func.call @move_1(%w, %q) : (memref<11x13xf32>, memref<13x11xf32>) -> ()
  func.return
}
func.func private @move_0(%from: memref<15x7xf32>, %to: memref<7x15xf32>) {
  gawee.kernel parallel [15, 7] ins(%from : memref<15x7xf32>) outs(%to) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>] finish {
  ^bb0(%x: f32):
    gawee.yield %x : f32
  } : memref<7x15xf32>
  func.return
}
func.func private @move_1(%from: memref<11x13xf32>, %to: memref<13x11xf32>) {
  gawee.kernel parallel [11, 13] ins(%from : memref<11x13xf32>) outs(%to) maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>] finish {
  ^bb0(%x: f32):
    gawee.yield %x : f32
  } : memref<13x11xf32>
  func.return
}
