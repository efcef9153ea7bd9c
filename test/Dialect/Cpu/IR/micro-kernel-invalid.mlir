// RUN: facet-opt %s -split-input-file -verify-diagnostics

func.func @count(%a: !llvm.ptr, %b: !llvm.ptr, %s: i64, %z: vector<16xf32>) {
  // expected-error @+1 {{has 1 inits and 1 results, but 2 rows of 3 vectors}}
  %acc = cpu.micro_kernel f32 rows 2 vectors 3 lanes 16
      a(%a, %s, %s) b(%b, %s) steps %s inits(%z : vector<16xf32>) : vector<16xf32>
  return
}

// -----

func.func @width(%a: !llvm.ptr, %b: !llvm.ptr, %s: i64, %z: vector<8xf32>) {
  // expected-error @+1 {{accumulates f32 products in 'vector<8xf32>', not in 'vector<16xf32>'}}
  %acc = cpu.micro_kernel f32 rows 1 vectors 1 lanes 16
      a(%a, %s, %s) b(%b, %s) steps %s inits(%z : vector<8xf32>) : vector<8xf32>
  return
}

// -----

func.func @groups(%a: !llvm.ptr, %b: !llvm.ptr, %s: i64, %m: vector<16xi1>, %z: vector<16xf32>) {
  // expected-error @+1 {{masks the last vector of bf16 groups; pack b and pad it}}
  %acc = cpu.micro_kernel bf16 rows 1 vectors 1 lanes 16
      a(%a, %s, %s) b(%b, %s) steps %s mask %m : vector<16xi1> inits(%z : vector<16xf32>) : vector<16xf32>
  return
}

// -----

func.func @mask(%a: !llvm.ptr, %b: !llvm.ptr, %s: i64, %m: vector<4xi1>, %z: vector<16xf32>) {
  // expected-error @+1 {{has a mask of 'vector<4xi1>' for vectors of 16 lanes}}
  %acc = cpu.micro_kernel f32 rows 1 vectors 1 lanes 16
      a(%a, %s, %s) b(%b, %s) steps %s mask %m : vector<4xi1> inits(%z : vector<16xf32>) : vector<16xf32>
  return
}
