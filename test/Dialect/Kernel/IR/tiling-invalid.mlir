// RUN: facet-opt %s --split-input-file --verify-diagnostics --test-kernel-tile="op=p sizes=j:4"

kernel.func @softmax_is_not_tiled_along_its_row (s = %s: tensor<8x8xf32> [8, 8]) -> (p: tensor<8x8xf32> [8, 8]) {
  %e = tensor.empty() : tensor<8x8xf32>
  // expected-error @+3 {{'kernel.softmax' op cannot be tiled along 'j', over which it normalises; decompose it first}}
  // expected-error @+2 {{faild to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %p = kernel.softmax "p" [i: 8] over [j: 8] ins(%s[i, j] as %a : tensor<8x8xf32>)
      outs(%e : tensor<8x8xf32>) {
    kernel.yield %a : f32
  } -> tensor<8x8xf32>
  kernel.return %p : tensor<8x8xf32>
}
