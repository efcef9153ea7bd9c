// RUN: facet-opt %s --convert-kernel-to-loops --split-input-file --verify-diagnostics

kernel.func @from_nothing sizes [M, K] (x = %x: tensor<?x?xf32> [M, K]) -> (y: tensor<?xf32> [M]) {
  %M = kernel.size "M" : index
  %K = kernel.size "K" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op starts from a tensor without values}}
  %y = kernel.reduce sum "y" [m: %M] over [k: %K] ins(%x[m, k] as %a : tensor<?x?xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %a : f32
  } -> tensor<?xf32>
  kernel.return %y : tensor<?xf32>
}

// -----

kernel.func @foreign sizes [M] (x = %x: tensor<?xf32> [M]) -> (y: tensor<?xf32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  %y = kernel.map "y" [m: %M] ins(%x[m] as %a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    // expected-error @+1 {{'math.sin' op has no meaning in the body of a kernel op}}
    %s = math.sin %a : f32
    kernel.yield %s : f32
  } -> tensor<?xf32>
  kernel.return %y : tensor<?xf32>
}

// -----

// expected-error @+1 {{'kernel.func' op has a parameter as the new value of another one}}
kernel.func @swapped sizes [M] (inout c = %c: tensor<?xf32> [M], inout d = %d: tensor<?xf32> [M]) -> () {
  kernel.return %d, %c : tensor<?xf32>, tensor<?xf32>
}
