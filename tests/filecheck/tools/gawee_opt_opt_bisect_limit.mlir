// RUN: gawee-opt --load=%S/../../instruments/wrong_passes/swapped_operands.py --swapped-operands --canonicalize --opt-bisect-limit=0 %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: gawee-opt --load=%S/../../instruments/wrong_passes/swapped_operands.py --swapped-operands --canonicalize --opt-bisect-limit=2 %s 2>&1 | filecheck %s --check-prefix=TWO
// RUN: gawee-opt --load=%S/../../instruments/wrong_passes/swapped_operands.py --swapped-operands --canonicalize --opt-bisect-limit=-1 %s 2>&1 | filecheck %s --check-prefix=ALL
// RUN: gawee-opt --lower-to-linalg --opt-bisect-limit=1 %s 2>&1 | filecheck %s --check-prefix=PART
// RUN: not gawee-opt --canonicalize --opt-bisect-limit=-2 %s 2>&1 | filecheck %s --check-prefix=WRONG
// RUN: not gawee-opt --canonicalize --opt-bisect-limit=1 --bisect %s 2>&1 | filecheck %s --check-prefix=BOTH

// NONE: opt-bisect: stopped at rewrite 0
// NONE: gawee.sub %b, %a
// NONE: gawee.sub %r, %b

// TWO: opt-bisect: stopped at rewrite 2: SortOperands ({{.*}}swapped_operands.py:11) on gawee.sub at net.json:30:5 (node "difference"), in swapped-operands
// TWO: gawee.sub %a, %b
// TWO: gawee.sub %a, %q
// TWO: gawee.sub %r, %b

// ALL: opt-bisect: rewrites in all: 3, the last: SortOperands {{.*}} (node "last"), in swapped-operands
// ALL: gawee.sub %b, %r

// PART: opt-bisect: stopped at rewrite 1: LowerElementwise
// PART: arith.subf
// PART: gawee.abs

// WRONG: error: argument --opt-bisect-limit: expected a count of rewrites, or -1 for all, got '-2'
// BOTH: error: expected --bisect without --opt-bisect-limit, got both
func.func @main(%a: tensor<3x5xf32> {gawee.input = "a"}, %b: tensor<3x5xf32> {gawee.input = "b"})
    -> (tensor<3x5xf32> {gawee.output = "y"}) {
  %p = gawee.sub %b, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("distance"("net.json":10:5))
  %q = gawee.abs %p : (tensor<3x5xf32>) -> tensor<3x5xf32> loc("absolute"("net.json":20:5))
  %r = gawee.sub %q, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("difference"("net.json":30:5))
  %s = gawee.sub %r, %b : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32> loc("last"("net.json":40:5))
  return %s : tensor<3x5xf32>
}
