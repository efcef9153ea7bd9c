// What C cannot call so is refused, or gets an underscore where the name does not matter outside.
//
// RUN: split-file %s %t
// RUN: not %facet-opt --emit-interface %t/library.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIBRARY
// RUN: %facet-opt --test-emit-header=namespace=my %t/library.mlir -o /dev/null | FileCheck %s --check-prefix=PREFIXED
// RUN: not %facet-opt --emit-interface=namespace=2x %t/library.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAMESPACE
// RUN: not %facet-opt --emit-interface %t/abi.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=ABI
// RUN: not %facet-opt --emit-interface %t/identifier.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=IDENTIFIER
// RUN: not %facet-opt --emit-interface %t/argument.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not %facet-opt --emit-interface %t/size.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not %facet-opt --emit-interface %t/clash.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=CLASH
// RUN: not %facet-opt --emit-interface %t/twice.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not %facet-opt --emit-interface %t/bare.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=BARE
// RUN: not %facet-opt --emit-interface %t/type.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: %facet-opt --test-emit-header %t/keywords.mlir -o /dev/null | FileCheck %s --check-prefix=KEYWORDS
//
// LIBRARY: error: kernel 'exp' would define 'exp', a name of the C library
// LIBRARY: note: --namespace=NAME sets NAME_ in front of it
// PREFIXED: int my_exp(const facet_exec *exec);
// PREFIXED: size_t my_exp_workspace(int threads);
// NAMESPACE: error: the namespace '2x' is not a C identifier
// ABI: error: kernel 'facet_exec' would define 'facet_exec', a name of the C library
// IDENTIFIER: error: kernel 'a-b' has no C name: its name is not an identifier
// ARGUMENT: error: argument 'a-b' of kernel 'f' has no C name: it is not an identifier
// SIZE: error: size 'M-1' of kernel 'f' has no C name: it is not an identifier
// CLASH: error: kernel 'f' would define the C function 'f_info', which exists already
// CLASH: note: defined here
// TWICE: error: kernel 'f' would define the C function 'f_pack_x_bytes' twice; rename an argument
// BARE: error: kernel 'f' has no 'f.impl' beside it; convert it first
// TYPE: error: 'f.impl' has type '() -> i32', the interface of 'f' needs '(!llvm.ptr, !llvm.ptr) -> i32'
//
// KEYWORDS: int register_(int64_t dim_M, int32_t new__, int32_t exec_, const float *x,
// KEYWORDS-NEXT: int64_t ld_x, int32_t ld_x_, int64_t new_, const facet_exec *exec);
// KEYWORDS: size_t register_workspace(

//--- library.mlir
kernel.func @exp () {
  kernel.return
}
//--- abi.mlir
kernel.func @facet_exec () {
  kernel.return
}
//--- identifier.mlir
kernel.func @"a-b" () {
  kernel.return
}
//--- argument.mlir
kernel.func @f ("a-b" = %x: tensor<f32> []) {
  kernel.return
}
//--- size.mlir
kernel.func @f sizes ["M-1"] (x = %x: tensor<?xf32> ["M-1"]) {
  kernel.return
}
//--- clash.mlir
kernel.func @f () {
  kernel.return
}
kernel.func @f_info () {
  kernel.return
}
//--- twice.mlir
kernel.func @f (const x = %x: tensor<4xf32> [4], const x_bytes = %y: tensor<4xf32> [4]) {
  kernel.return
}
//--- bare.mlir
kernel.func @f () {
  kernel.return
}
//--- type.mlir
kernel.func @f () {
  kernel.return
}
func.func private @f.impl() -> i32
//--- keywords.mlir
kernel.func @register sizes [M] (new = %a: tensor<i32> [], exec = %b: tensor<i32> [], x = %x: tensor<?x?xf32> [M, M],
                                 ld_x = %c: tensor<i32> [], new_ = %d: tensor<i64> []) {
  kernel.return
}
