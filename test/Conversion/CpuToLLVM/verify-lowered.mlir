// RUN: facet-opt %s --cpu-verify-lowered --split-input-file --verify-diagnostics

// Scalars, vectors of a power of two, loops, memory through pointers.
func.func @takes_what_the_road_makes(%p: !llvm.ptr, %n: index, %x: vector<16xf32>) -> vector<16xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sums = scf.for %i = %zero to %n step %one iter_args(%sum = %x) -> vector<16xf32> {
    %a = llvm.load %p : !llvm.ptr -> f32
    %wide = vector.broadcast %a : f32 to vector<16xf32>
    %next = arith.addf %sum, %wide : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  return %sums : vector<16xf32>
}

// -----

func.func @refuses_contract(%a: vector<4x8xf32>, %b: vector<8x16xf32>, %c: vector<4x16xf32>) -> vector<4x16xf32> {
  // expected-error @below {{'vector.contract' is left behind the CPU road}}
  %r = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                        iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c
       : vector<4x8xf32>, vector<8x16xf32> into vector<4x16xf32>
  return %r : vector<4x16xf32>
}

// -----

func.func @refuses_alloc() {
  // expected-error @below {{'memref.alloc' is left behind the CPU road}}
  %m = memref.alloc() : memref<16xf32>
  return
}

// -----

func.func @refuses_copy(%a: memref<16xf32>, %b: memref<16xf32>) {
  // expected-error @below {{'memref.copy' is left behind the CPU road}}
  memref.copy %a, %b : memref<16xf32> to memref<16xf32>
  return
}

// -----

func.func @refuses_length_that_spills(%x: vector<24xf32>) -> vector<24xf32> {
  // expected-error @below {{a 'vector<24xf32>' is left behind the CPU road; vectors have one dimension, and a power of two elements}}
  %r = arith.addf %x, %x : vector<24xf32>
  return %r : vector<24xf32>
}
