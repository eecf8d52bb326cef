// RUN: not gawee-translate --coverage %S/../frontends/inputs/unsupported.json | filecheck %s
// RUN: not gawee-translate --coverage --json %S/../frontends/inputs/unsupported.json | filecheck %s --check-prefix JSON
// RUN: gawee-translate --coverage %S/../frontends/inputs/conv_relu.json | filecheck %s --check-prefix FITS

// CHECK:      op type {{.*}} nodes {{.*}} verdict {{.*}} becomes {{.*}} lowered by {{.*}} limits, or why not and where
// CHECK:      MaxPol {{.*}} 1 {{.*}} unsupported {{.*}} unsupported op_type 'MaxPol'; did you mean 'MaxPool'?
// CHECK-NEXT: at pool
// CHECK:      Sofmax {{.*}} 1 {{.*}} unsupported
// CHECK:      0 of 2 nodes can go through

// JSON:       "format": "gawee-json",
// JSON-NEXT:  "goes_through": false,
// JSON:       "op_type": "MaxPol",
// JSON:       "verdict": "unsupported",

// FITS:       Conv {{.*}} 1 {{.*}} supported with limits {{.*}} gawee.conv {{.*}} LowerConv {{.*}} input of rank 4
// FITS:       2 of 2 nodes can go through
