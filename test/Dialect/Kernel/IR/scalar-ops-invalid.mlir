// RUN: facet-opt %s --split-input-file --verify-diagnostics

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %e = tensor.empty() : tensor<4xbf16>
  %y = kernel.map [i: 4] ins(%x[i] as %v : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    %f = kernel.cast exact %v : bf16 to f32
    %n = arith.constant 1 : i32
    %b = arith.constant true
    // expected-error @+1 {{'kernel.index' op reads 'j', which is no iterator of the enclosing kernel.map}}
    %j = kernel.index "j" : i64
    kernel.yield %v : bf16
  } -> tensor<4xbf16>
  kernel.return
}

// -----

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %e = tensor.empty() : tensor<4xbf16>
  %y = kernel.map [i: 4] ins(%x[i] as %v : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    %f = kernel.cast exact %v : bf16 to f32
    %n = arith.constant 1 : i32
    %b = arith.constant true
    // expected-error @+1 {{'kernel.cast' op cannot convert 'bf16' to 'f64' by 'exact'}}
    %j = kernel.cast exact %v : bf16 to f64
    kernel.yield %v : bf16
  } -> tensor<4xbf16>
  kernel.return
}

// -----

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %e = tensor.empty() : tensor<4xbf16>
  %y = kernel.map [i: 4] ins(%x[i] as %v : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    %f = kernel.cast exact %v : bf16 to f32
    %n = arith.constant 1 : i32
    %b = arith.constant true
    // expected-error @+1 {{'kernel.cast' op cannot convert 'f32' to 'f32' by 'round'}}
    %j = kernel.cast round %f : f32 to f32
    kernel.yield %v : bf16
  } -> tensor<4xbf16>
  kernel.return
}

// -----

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %e = tensor.empty() : tensor<4xbf16>
  %y = kernel.map [i: 4] ins(%x[i] as %v : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    %f = kernel.cast exact %v : bf16 to f32
    %n = arith.constant 1 : i32
    %b = arith.constant true
    // expected-error @+1 {{'kernel.cast' op cannot convert 'f32' to 'bf16' by 'exact'; possible: round, round_sat}}
    %j = kernel.cast exact %f : f32 to bf16
    kernel.yield %v : bf16
  } -> tensor<4xbf16>
  kernel.return
}

// -----

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %e = tensor.empty() : tensor<4xbf16>
  %y = kernel.map [i: 4] ins(%x[i] as %v : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    %f = kernel.cast exact %v : bf16 to f32
    %n = arith.constant 1 : i32
    %b = arith.constant true
    // expected-error @+1 {{'kernel.cast' op cannot convert 'f32' to 'i8' by 'wrap'; possible: sat}}
    %j = kernel.cast wrap %f : f32 to i8
    kernel.yield %v : bf16
  } -> tensor<4xbf16>
  kernel.return
}

// -----

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %e = tensor.empty() : tensor<4xbf16>
  %y = kernel.map [i: 4] ins(%x[i] as %v : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    %f = kernel.cast exact %v : bf16 to f32
    %n = arith.constant 1 : i32
    %b = arith.constant true
    // expected-error @+1 {{'kernel.cast' op cannot convert 'i32' to 'i8' by 'exact'; possible: wrap, sat}}
    %j = kernel.cast exact %n : i32 to i8
    kernel.yield %v : bf16
  } -> tensor<4xbf16>
  kernel.return
}

// -----

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %e = tensor.empty() : tensor<4xbf16>
  %y = kernel.map [i: 4] ins(%x[i] as %v : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    %f = kernel.cast exact %v : bf16 to f32
    %n = arith.constant 1 : i32
    %b = arith.constant true
    // expected-error @+1 {{'kernel.cast' op cannot convert 'i32' to 'i64' by 'wrap'; possible: exact}}
    %j = kernel.cast wrap %n : i32 to i64
    kernel.yield %v : bf16
  } -> tensor<4xbf16>
  kernel.return
}

// -----

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %e = tensor.empty() : tensor<4xbf16>
  %y = kernel.map [i: 4] ins(%x[i] as %v : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    %f = kernel.cast exact %v : bf16 to f32
    %n = arith.constant 1 : i32
    %b = arith.constant true
    // expected-error @+1 {{'kernel.cast' op cannot convert 'i32' to 'bf16' by 'round'}}
    %j = kernel.cast round %n : i32 to bf16
    kernel.yield %v : bf16
  } -> tensor<4xbf16>
  kernel.return
}

// -----

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %e = tensor.empty() : tensor<4xbf16>
  %y = kernel.map [i: 4] ins(%x[i] as %v : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    %f = kernel.cast exact %v : bf16 to f32
    %n = arith.constant 1 : i32
    %b = arith.constant true
    // expected-error @+1 {{'kernel.cast' op cannot convert 'i1' to 'i32' by 'wrap'; possible: exact}}
    %j = kernel.cast wrap %b : i1 to i32
    kernel.yield %v : bf16
  } -> tensor<4xbf16>
  kernel.return
}

// -----

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %e = tensor.empty() : tensor<4xbf16>
  %y = kernel.map [i: 4] ins(%x[i] as %v : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    %f = kernel.cast exact %v : bf16 to f32
    %n = arith.constant 1 : i32
    %b = arith.constant true
    // expected-error @+1 {{'kernel.cast' op cannot convert 'f32' to 'f8E3M4' by 'round'}}
    %j = kernel.cast round %f : f32 to f8E3M4
    kernel.yield %v : bf16
  } -> tensor<4xbf16>
  kernel.return
}

// -----

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %s = arith.constant 0 : i7
  // expected-error @+1 {{'kernel.cast' op cannot convert 'i7' to 'i32' by 'exact'}}
  %j = kernel.cast exact %s : i7 to i32
  kernel.return
}

// -----

kernel.func @f (x = %x: tensor<4xbf16> [4]) {
  %e = tensor.empty() : tensor<4xbf16>
  %y = kernel.map [i: 4] ins(%x[i] as %v : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    %f = kernel.cast exact %v : bf16 to f32
    %n = arith.constant 1 : i32
    %b = arith.constant true
    // expected-error @+1 {{'kernel.apply' op applies 'gelu' to 'i32'; only relu takes integers}}
    %j = kernel.apply gelu %n : i32
    kernel.yield %v : bf16
  } -> tensor<4xbf16>
  kernel.return
}

// -----

func.func @f() {
  // expected-error @+1 {{'kernel.yield' op expects parent op to be one of}}
  kernel.yield
}

// -----

kernel.func @f () {
  // expected-error @+1 {{'kernel.index' op must stand in a kernel.map, kernel.reduce or kernel.softmax}}
  %i = kernel.index "i" : i64
  kernel.return
}
