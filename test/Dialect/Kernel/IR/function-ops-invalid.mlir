// RUN: facet-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'kernel.func' op names the size 'M' twice}}
kernel.func @f sizes [M, M] () {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op uses the name 'a' twice}}
kernel.func @f (a = %a: tensor<f32> [], a = %b: tensor<f32> []) {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op uses the name 'M' twice}}
kernel.func @f sizes [M] (M = %a: tensor<?xf32> [M]) {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op 'a' has type 'f32', a ranked tensor is needed}}
kernel.func @f (a = %a: f32 []) {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op 'a' has an encoding, 1 : i64; tensors of a kernel have none}}
kernel.func @f (a = %a: tensor<f32, 1 : i64> []) {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op 'a' has elements of type 'i7', which is no element type of a kernel}}
kernel.func @f (a = %a: tensor<i7> []) {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op 'a' has axes with 3 dimensions and a tensor of rank 2}}
kernel.func @f sizes [M] (a = %a: tensor<?x2xf32> [M, (2, 2)]) {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op 'a' has an axis of size 'N', which is not among the sizes of the kernel}}
kernel.func @f sizes [M] (a = %a: tensor<?xf32> [N]) {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op 'a' has 128 as dimension 1 and 64 in its type}}
kernel.func @f sizes [M] (a = %a: tensor<?x64xf32> [M, 128]) {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op 'y' has 128 as dimension 0 and ? in its type}}
kernel.func @f () -> (y: tensor<?xf32> [128]) {
  kernel.return
}

// -----

// expected-error @+1 {{a dimension of -1 is negative}}
kernel.func @f (a = %a: tensor<1xf32> [-1]) {
  kernel.return
}

// -----

// expected-error @+1 {{a name may not be empty}}
kernel.func @f ("" = %a: tensor<f32> []) {
  kernel.return
}

// -----

// expected-error @+1 {{expected a name}}
kernel.func @f (%a: tensor<f32> []) {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op fixes 'N', which is not among the sizes of the kernel}}
kernel.func @f sizes [M] () fixed {N = array<i64: 1>} {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op fixes 'M' to 1 : i64, an array<i64: ...> of sizes is needed}}
kernel.func @f sizes [M] () fixed {M = 1} {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op fixes 'M' to array<i64: -4>, an array<i64: ...> of sizes is needed}}
kernel.func @f sizes [M] () fixed {M = array<i64: -4>} {
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.func' op has 1 parameters and 0 block arguments}}
"kernel.func"() <{sym_name = "f", sizes = [], params = [#kernel.param<in a []>], outputs = [], output_types = []}> ({
  kernel.return
}) : () -> ()

// -----

// expected-error @+1 {{'kernel.func' op has 1 results and 0 result types}}
"kernel.func"() <{sym_name = "f", sizes = [], params = [], outputs = [#kernel.param<out a []>], output_types = []}> ({
  kernel.return
}) : () -> ()

// -----

// expected-error @+1 {{'kernel.func' op 'a' is a result and has the mode in}}
"kernel.func"() <{sym_name = "f", sizes = [], params = [], outputs = [#kernel.param<in a []>], output_types = [tensor<f32>]}> ({
  kernel.return
}) : () -> ()

// -----

// expected-error @+1 {{'kernel.func' op 'a' is a parameter and has the mode out}}
"kernel.func"() <{sym_name = "f", sizes = [], params = [#kernel.param<out a []>], outputs = [], output_types = []}> ({
^bb0(%a: tensor<f32>):
  kernel.return
}) : () -> ()

// -----

// expected-error @+1 {{'kernel.func' op describes a parameter by unit, a #kernel.param is needed}}
"kernel.func"() <{sym_name = "f", sizes = [], params = [unit], outputs = [], output_types = []}> ({
^bb0(%a: tensor<f32>):
  kernel.return
}) : () -> ()

// -----

// expected-error @+1 {{'kernel.func' op must end in kernel.return}}
kernel.func @f () {
  %c = arith.constant 0 : i32
}

// -----

// expected-error @+1 {{'kernel.func' op has a size without a name}}
"kernel.func"() <{sym_name = "f", sizes = [""], params = [], outputs = [], output_types = []}> ({
  kernel.return
}) : () -> ()

// -----

// expected-error @+1 {{expected in, const, inout or out, found 'maybe'}}
module attributes {a = #kernel.param<maybe a []>} {}

// -----

// expected-error @+1 {{expected a number, dN for iterator N or eN for the element of input N, found 'x3'}}
module attributes {a = #kernel.access<[x3]>} {}

// -----

// expected-error @+1 {{expected a name}}
module attributes {a = #kernel.axis<()>} {}

// -----

kernel.func @f sizes [M] () {
  // expected-error @+1 {{'kernel.size' op reads 'N', which is not among the sizes of kernel 'f'}}
  %N = kernel.size "N" : index
  kernel.return
}

// -----

// expected-error @+1 {{'kernel.size' op must stand in a kernel.func}}
%N = kernel.size "N" : index

// -----

kernel.func @f (inout c = %c: tensor<4xf32> [4]) -> (y: tensor<2xf32> [2]) {
  // expected-error @+1 {{'kernel.return' op returns 1 values; kernel 'f' has 2 (inouts, then results)}}
  kernel.return %c : tensor<4xf32>
}

// -----

kernel.func @f (inout c = %c: tensor<4xf32> [4]) -> (y: tensor<2xf32> [2]) {
  // expected-error @+1 {{'kernel.return' op returns 'tensor<4xf32>' for 'y', which is 'tensor<2xf32>'}}
  kernel.return %c, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

kernel.func @f (a = %a: tensor<4xi32> [4]) {
  // expected-error @+1 {{'kernel.require' op reads a tensor of rank 1; a promise is about scalar arguments and sizes}}
  kernel.require "a" ins(%a as %x : tensor<4xi32>) {
    %t = arith.constant true
    kernel.yield %t : i1
  }
  kernel.return
}

// -----

kernel.func @f (a = %a: tensor<i32> []) {
  // expected-error @+1 {{'kernel.require' op must end in a kernel.yield of one i1}}
  kernel.require "a" ins(%a as %x : tensor<i32>) {
    kernel.yield %x : i32
  }
  kernel.return
}

// -----

kernel.func @f (a = %a: tensor<i32> []) {
  // expected-error @+1 {{'kernel.require' op has 1 inputs and 0 block arguments}}
  "kernel.require"(%a) <{text = "a"}> ({
    %t = arith.constant true
    kernel.yield %t : i1
  }) : (tensor<i32>) -> ()
  kernel.return
}

// -----

kernel.func @f (a = %a: tensor<i32> []) {
  // expected-error @+1 {{'kernel.require' op has a block argument of type 'i64' for an element of type 'i32'}}
  "kernel.require"(%a) <{text = "a"}> ({
  ^bb0(%x: i64):
    %t = arith.constant true
    kernel.yield %t : i1
  }) : (tensor<i32>) -> ()
  kernel.return
}

// -----

kernel.func @f (a = %a: tensor<i32> []) {
  // expected-error @+1 {{an input is a ranked tensor}}
  kernel.require "a" ins(%a as %x : i32) {
    kernel.yield %x : i32
  }
  kernel.return
}

// -----

kernel.func @f (a = %a: tensor<i1> []) {
  // expected-error @+1 {{'kernel.require' op has 'tensor.extract' in its promise; only scalar operations without effects may stand there}}
  kernel.require "a" {
    %x = tensor.extract %a[] : tensor<i1>
    kernel.yield %x : i1
  }
  kernel.return
}
