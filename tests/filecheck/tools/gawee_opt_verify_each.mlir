// RUN: gawee-opt --verify-each %s | filecheck %s
// RUN: gawee-opt --verify-each=true %s --cse | filecheck %s
// RUN: gawee-opt %s --cse --verify-each=false | filecheck %s

// CHECK-LABEL: func.func @a_flag_without_a_value_leaves_the_file_name_alone
func.func @a_flag_without_a_value_leaves_the_file_name_alone() {
  return
}
