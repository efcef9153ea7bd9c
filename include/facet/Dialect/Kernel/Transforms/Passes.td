//===- Passes.td - transformations inside the kernel dialect --*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_TRANSFORMS_PASSES_TD
#define FACET_DIALECT_KERNEL_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SimplifyKernelPass : Pass<"kernel-simplify", "::facet::kernel::FuncOp"> {
  let summary = "removes work that no result needs, keeping every value";
  let description = [{
    Needs a kernel as the frontend makes it; promises the same values, roundings
    included, for every input. What it does:

    * drops structured ops whose results nobody reads, inputs that no body reads
      (gathers stay: their indices are checked at run time), and guards without use;
    * reads an input once where an op reads the same element twice;
    * replaces a map that only repeats its input by that input, except where it fills
      a result of the kernel, since somebody must do that copy;
    * with `merge-maps`, computes a map inside the one map or reduce that reads it,
      when each of its elements is read exactly once and unconditionally;
    * folds constants, in bodies too, and brings those that a body uses into it.

    ```mlir
    kernel.func @f (x = %x: tensor<4xf32> [4]) -> (y: tensor<4xf32> [4]) {
      %e = tensor.empty() : tensor<4xf32>
      %t = kernel.map "t" [i: 4] ins(%x[i] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
        %b = math.exp %a : f32
        kernel.yield %b : f32
      } -> tensor<4xf32>
      // Afterwards %t is gone and %y computes negf(exp(x)).
      %y = kernel.map "y" [j: 4] ins(%t[j] as %a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
        %b = arith.negf %a : f32
        kernel.yield %b : f32
      } -> tensor<4xf32>
      kernel.return %y : tensor<4xf32>
    }
    ```

    It never moves a factor into or out of a sum, never computes an element twice, and
    does nothing to a softmax but drop what it does not read.
  }];
  let options = [
    Option<"mergeMaps", "merge-maps", "bool", /*default=*/"true",
           "compute a map inside its only reader">
  ];
}

def DecomposeSoftmaxPass : Pass<"kernel-decompose-softmax", "::facet::kernel::FuncOp"> {
  let summary = "turns each softmax into max, exp, sum and a division";
  let description = [{
    `kernel.softmax "p"` becomes

    * `p.e`, a map of the exponents, unless they are an input as it stands;
    * `p.max`, their maximum over the points that the filter keeps;
    * `p.exp`, a map of `exp(e − max)`, 0 where the filter drops the point;
    * `p.sum`, the sum of `p.exp` over the points that the filter keeps;
    * `p`, a map of the quotient, 0 where the filter drops the point.

    A row without any point is 0 everywhere; a row of −inf gives NaN, by the formula.
    A plan that streams a softmax starts from this form. Does nothing without softmax.
  }];
}

#endif
