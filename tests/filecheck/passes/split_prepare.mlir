// RUN: gawee-opt --split-prepare=most=100 --split-input-file %s | filecheck %s

// The first two parameters are 24 and 40 bytes, and one part; %w is 60.
// CHECK-LABEL: func.func @prepare.0
// CHECK-SAME:  %u: memref<2x3xf32> {gawee.parameter = "u"}
// CHECK-SAME:  %v: memref<2x5xf32> {gawee.parameter = "v"}
// CHECK-SAME:  %p: memref<3x2xf32> {gawee.output = "0"}
// CHECK-SAME:  %q: memref<10xf32> {gawee.output = "1"}
// CHECK-NEXT:    linalg.transpose ins(%u
// CHECK-NEXT:    %[[V:.*]] = memref.collapse_shape %v
// CHECK-NEXT:    linalg.exp ins(%[[V]]
// CHECK-NEXT:    func.return
// CHECK-LABEL: func.func @prepare.1
// CHECK-SAME:  %w: memref<3x5xf32> {gawee.parameter = "w"}
// CHECK-SAME:  %r: memref<5x3xf32> {gawee.output = "2"}
// CHECK-NEXT:    linalg.transpose ins(%w
// CHECK-NEXT:    func.return
// CHECK-LABEL: func.func @prepare(
// CHECK-NEXT:    func.call @prepare.0(%u, %v, %p, %q)
// CHECK-NEXT:    func.call @prepare.1(%w, %r)
// CHECK-NEXT:    func.return
func.func @prepare(
    %u: memref<2x3xf32> {gawee.parameter = "u"}, %v: memref<2x5xf32> {gawee.parameter = "v"},
    %w: memref<3x5xf32> {gawee.parameter = "w"}, %p: memref<3x2xf32> {gawee.output = "0"},
    %q: memref<10xf32> {gawee.output = "1"}, %r: memref<5x3xf32> {gawee.output = "2"}) {
  %flat = memref.collapse_shape %v [[0, 1]] : memref<2x5xf32> into memref<10xf32>
  linalg.transpose ins(%u : memref<2x3xf32>) outs(%p : memref<3x2xf32>) permutation = [1, 0]
  linalg.exp ins(%flat : memref<10xf32>) outs(%q : memref<10xf32>)
  linalg.transpose ins(%w : memref<3x5xf32>) outs(%r : memref<5x3xf32>) permutation = [1, 0]
  func.return
}

// -----

// What stands between two reads of a parameter is in its part; %a is there for both parts.
// CHECK-LABEL: func.func @prepare.0
// CHECK-SAME:  %u: {{.*}}%v: {{.*}}%p: {{.*}}%q: {{.*}}%workspace: memref<64xi8>
// CHECK-NEXT:    %[[Z:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[A:.*]] = memref.view %workspace[%[[Z]]]
// CHECK-NEXT:    linalg.exp ins(%u : memref<13xf32>) outs(%[[A]]
// CHECK-NEXT:    linalg.exp ins(%v : memref<11xf32>) outs(%q
// CHECK-NEXT:    linalg.exp ins(%u : memref<13xf32>) outs(%p
// CHECK-LABEL: func.func @prepare.1
// CHECK-SAME:  %w: {{.*}}%r: {{.*}}%workspace: memref<64xi8>
// CHECK-NEXT:    %[[Z1:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[A1:.*]] = memref.view %workspace[%[[Z1]]]
// CHECK-NEXT:    linalg.mul ins(%w, %[[A1]]
func.func @prepare(
    %u: memref<13xf32> {gawee.parameter = "u"}, %v: memref<11xf32> {gawee.parameter = "v"},
    %w: memref<13xf32> {gawee.parameter = "w"}, %p: memref<13xf32> {gawee.output = "0"},
    %q: memref<11xf32> {gawee.output = "1"}, %r: memref<13xf32> {gawee.output = "2"},
    %workspace: memref<64xi8> {gawee.workspace}) {
  %zero = arith.constant 0 : index
  %a = memref.view %workspace[%zero][] : memref<64xi8> to memref<13xf32>
  linalg.exp ins(%u : memref<13xf32>) outs(%a : memref<13xf32>)
  linalg.exp ins(%v : memref<11xf32>) outs(%q : memref<11xf32>)
  linalg.exp ins(%u : memref<13xf32>) outs(%p : memref<13xf32>)
  linalg.mul ins(%w, %a : memref<13xf32>, memref<13xf32>) outs(%r : memref<13xf32>)
  func.return
}

// -----

// CHECK-LABEL: builtin.module
// CHECK-NOT:   @prepare.
// CHECK:       func.func @prepare(
// CHECK-NEXT:    linalg.exp
// CHECK-NEXT:    linalg.exp
func.func @prepare(
    %u: memref<9xf32> {gawee.parameter = "u"}, %v: memref<11xf32> {gawee.parameter = "v"},
    %p: memref<9xf32> {gawee.output = "0"}, %q: memref<11xf32> {gawee.output = "1"}) {
  linalg.exp ins(%u : memref<9xf32>) outs(%p : memref<9xf32>)
  linalg.exp ins(%v : memref<11xf32>) outs(%q : memref<11xf32>)
  func.return
}

// -----

// What was cut before stays as it is.
// CHECK-LABEL: func.func @prepare.0
// CHECK-NOT:   @prepare.1(%
// CHECK-LABEL: func.func @prepare(
// CHECK-NEXT:    func.call @prepare.0(%u, %p)
// CHECK-NEXT:    linalg.exp ins(%v
func.func @prepare.0(
    %u: memref<19xf32> {gawee.parameter = "u"}, %p: memref<19xf32> {gawee.output = "0"}) {
  linalg.exp ins(%u : memref<19xf32>) outs(%p : memref<19xf32>)
  func.return
}
func.func @prepare(
    %u: memref<19xf32> {gawee.parameter = "u"}, %v: memref<21xf32> {gawee.parameter = "v"},
    %p: memref<19xf32> {gawee.output = "0"}, %q: memref<21xf32> {gawee.output = "1"}) {
  func.call @prepare.0(%u, %p) : (memref<19xf32>, memref<19xf32>) -> ()
  linalg.exp ins(%v : memref<21xf32>) outs(%q : memref<21xf32>)
  func.return
}
