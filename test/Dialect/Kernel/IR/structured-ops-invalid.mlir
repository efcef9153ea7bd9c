// RUN: facet-opt %s --split-input-file --verify-diagnostics

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'j' is no iterator of this op}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, j] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'%z' is no element of an earlier input}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[%z, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'%z' is no guard of this op}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x if(%z) : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{an input is a ranked tensor, found 'f32'}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[] as %x : f32)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  // expected-error @+1 {{an extent of -3 is negative}}
  %y = kernel.reduce sum [m: -3] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{expected sum, max, min, any, all, argmax or argmin, found 'product'}}
  %y = kernel.reduce product [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has two iterators named 'm'}}
  %y = kernel.reduce sum [m: %M] over [k: 8, m: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has an extent of 4 for iterator 'k' and 8 as dimension 1 of input 0}}
  %y = kernel.reduce sum [m: %M] over [k: 4] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op gives input 0 1 subscripts; it has rank 2}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op subscripts input 0 by 8; its dimension 1 is 8}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, 8] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op subscripts input 0 by -1, a negative number}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, -1] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op subscripts input 1 by elements of type 'f32'; a subscript is an integer}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, 0] as %z : tensor<?x8xf32>, %a[%z, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has an init of rank 1; its result has 2 dimensions}}
  %y = kernel.reduce sum [m: %M, n: 3] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty() : tensor<3xf32>
  // expected-error @+1 {{'kernel.reduce' op has an extent of 5 for iterator 'n' and 3 as dimension 0 of its init}}
  %y = kernel.reduce sum [n: 5] over [m: %M, k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<3xf32>) {
    kernel.yield %x : f32
  } -> tensor<3xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has an init of type 'tensor<?xf32>' without a result of that type}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<4xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has no iterator to reduce over}}
  %y = kernel.reduce sum [m: %M] ins(%a[m, 0] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.map' op has iterators that are not parallel; reductions are kernel.reduce}}
  %y = kernel.map [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.softmax' op has no iterator to normalise over}}
  %y = kernel.softmax [m: %M] ins(%a[m, 0] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.map' op has a filter; a map has a value everywhere}}
  %y = kernel.map [m: %M] ins(%a[m, 0] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) guards(%g) {
    %t = arith.constant true
    kernel.yield %t : i1
  } filter(%g) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has a guards region that yields nothing}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) guards() {
    kernel.yield
  } {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op yields 'f32' as a guard, which must be i1}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) guards(%g) {
    kernel.yield %x : f32
  } {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has 2 arguments in its body; 1 elements and 2 guards are needed}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) guards(%g) {
    %t = arith.constant true
    kernel.yield %t, %t : i1, i1
  } {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op names guard 0 twice in its filter}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) guards(%g) {
    %t = arith.constant true
    kernel.yield %t : i1
  } filter(%g, %g) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op names guard 0 twice in the guards of input 0}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x if(%g, %g) : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) guards(%g) {
    %t = arith.constant true
    kernel.yield %t : i1
  } {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op uses input 0 in its guards before guard 0, under which it is read, is computed}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x if(%g) : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) guards(%g) {
    %z = arith.constant 0.0 : f32
    %t = arith.cmpf ogt, %x, %z : f32
    kernel.yield %t : i1
  } {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (b = %b: tensor<?xi1> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op uses input 0 in its guards before guard 0, under which it is read, is computed}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%b[m] as %x if(%g) : tensor<?xi1>)
      outs(%e : tensor<?xf32>) guards(%g) {
    kernel.yield %x : i1
  } {
    %z = arith.constant 0.0 : f32
    kernel.yield %z : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op reads input 1 at the element of an input that is guarded by 0; input 1 must have that guard too}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%id[m] as %i if(%g) : tensor<?xi32>, %a[%i, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) guards(%g) {
    %t = arith.constant true
    kernel.yield %t : i1
  } {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op must end its body in kernel.yield}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    %z = arith.constant 0.0 : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has 'tensor.dim' in its body; only scalar operations without effects may stand there}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    %c = arith.constant 0 : index
    %d = tensor.dim %a, %c : tensor<?x8xf32>
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], f = %f: tensor<f32> []) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  %z = tensor.extract %f[] : tensor<f32>
  // expected-error @+1 {{'kernel.reduce' op uses a value of type 'f32' from outside in its body; sizes, constants and offsets may come from there}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    %p = arith.mulf %x, %z : f32
    kernel.yield %p : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op yields 2 values for 1 inits}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x, %x : f32, f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op yields 'f64' for elements of type 'f32'}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    %d = kernel.cast exact %x : f32 to f64
    kernel.yield %d : f64
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.map' op has 2 inits, one is needed}}
  %y:2 = kernel.map [m: %M] ins(%a[m, 0] as %x : tensor<?x8xf32>)
      outs(%e, %e : tensor<?xf32>, tensor<?xf32>) {
    kernel.yield %x, %x : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has 1 inits; argmax needs two, the value and its index}}
  %y = kernel.reduce argmax [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has 2 inits; max needs one}}
  %y:2 = kernel.reduce max [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e, %e : tensor<?xf32>, tensor<?xf32>) {
    kernel.yield %x, %x : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has an index of type 'f32', which must be i64}}
  %y:2 = kernel.reduce argmin [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e, %e : tensor<?xf32>, tensor<?xf32>) {
    kernel.yield %x, %x : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op reduces 'f32' by any, which takes i1}}
  %y = kernel.reduce any [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : f32
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (b = %b: tensor<?x8xi8> [M, 8], f = %f: tensor<?xi8> [M]) {
  %M = kernel.size "M" : index
  // expected-error @+1 {{'kernel.reduce' op reduces 'i8' by sum, which takes i32, i64, f32 or f64}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%b[m, k] as %x : tensor<?x8xi8>)
      outs(%f : tensor<?xi8>) {
    kernel.yield %x : i8
  } -> tensor<?xi8>
  kernel.return
}

// -----

kernel.func @f sizes [M] (b = %b: tensor<?x8xbf16> [M, 8]) {
  %M = kernel.size "M" : index
  // expected-error @+1 {{'kernel.softmax' op normalises 'bf16'; f32 or f64 is needed}}
  %y = kernel.softmax [m: %M] over [k: 8] ins(%b[m, k] as %x : tensor<?x8xbf16>)
      outs(%b : tensor<?x8xbf16>) {
    kernel.yield %x : bf16
  } -> tensor<?x8xbf16>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], v = %v: tensor<f32> [], i = %i: tensor<i64> []) {
  %M = kernel.size "M" : index
  // expected-error @+1 {{'kernel.reduce' op reduces over 2 iterators; argmax takes one}}
  %y:2 = kernel.reduce argmax [] over [m: %M, k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%v, %i : tensor<f32>, tensor<i64>) {
    %k = kernel.index "k" : i64
    kernel.yield %x, %k : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %s = tensor.empty(%M) : tensor<?xi7>
  // expected-error @+1 {{'kernel.reduce' op writes elements of type 'i7', which is no element type of a kernel}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%a[m, k] as %x : tensor<?x8xf32>)
      outs(%s : tensor<?xi7>) {
    kernel.yield %x : f32
  } -> tensor<?xi7>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  %s = tensor.empty(%M) : tensor<?xi7>
  // expected-error @+1 {{'kernel.reduce' op reads elements of type 'i7', which is no element type of a kernel}}
  %y = kernel.reduce sum [m: %M] over [k: 8] ins(%s[m] as %x : tensor<?xi7>)
      outs(%e : tensor<?xf32>) {
    kernel.yield %x : i7
  } -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has 1 iterators and 2 extents}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [#kernel.access<[d0, d1]>], input_guards = [array<i64>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has 2 iterators and says that 3 are parallel}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 3, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [#kernel.access<[d0, d1]>], input_guards = [array<i64>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has 2 dynamic extents and 1 extent operands}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, -9223372036854775808>,
      accesses = [#kernel.access<[d0, d1]>], input_guards = [array<i64>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has an iterator without a name}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", ""], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [#kernel.access<[d0, d1]>], input_guards = [array<i64>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op gives iterator 'k' the extent -8}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, -8>,
      accesses = [#kernel.access<[d0, d1]>], input_guards = [array<i64>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has 1 inputs and 0 accesses}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [], input_guards = [array<i64>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op describes the access of input 0 by unit, a #kernel.access is needed}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [unit], input_guards = [array<i64>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op subscripts input 0 by iterator 2; it has 2}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [#kernel.access<[d0, d2]>], input_guards = [array<i64>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op subscripts input 0 by the element of input 0; only an earlier input can be a subscript}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [#kernel.access<[e0, d1]>], input_guards = [array<i64>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has 1 inputs and 0 lists of guards}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [#kernel.access<[d0, d1]>], input_guards = [], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op describes the guards of input 0 by unit, an array<i64: ...> is needed}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [#kernel.access<[d0, d1]>], input_guards = [unit], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op names guard 0 in the guards of input 0; it has 0}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [#kernel.access<[d0, d1]>], input_guards = [array<i64: 0>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op names guard 3 in its filter; it has 0}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [#kernel.access<[d0, d1]>], input_guards = [array<i64>], filter = array<i64: 3>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  %e = tensor.empty(%M) : tensor<?xf32>
  // expected-error @+1 {{'kernel.reduce' op has 'f64' as argument 0 of its body, which must be 'f32'}}
  %y = "kernel.reduce"(%M, %a, %e) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [#kernel.access<[d0, d1]>], input_guards = [array<i64>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
  }, {
  ^bb0(%x: f64):
    kernel.yield %x : f64
  }) : (index, tensor<?x8xf32>, tensor<?xf32>) -> tensor<?xf32>
  kernel.return
}

// -----

kernel.func @f sizes [M] (a = %a: tensor<?x8xf32> [M, 8], id = %id: tensor<?xi32> [M]) {
  %M = kernel.size "M" : index
  // expected-error @+1 {{'kernel.reduce' op has 0 inits and 1 results}}
  %y = "kernel.reduce"(%M, %a) <{kind = 0 : i32, iterator_names = ["m", "k"], num_parallel = 1, static_extents = array<i64: -9223372036854775808, 8>,
      accesses = [#kernel.access<[d0, d1]>], input_guards = [array<i64>], filter = array<i64>, operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  }, {
  ^bb0(%x: f32):
    kernel.yield %x : f32
  }) : (index, tensor<?x8xf32>) -> tensor<?xf32>
  kernel.return
}
