// RUN: not facet-opt %s 2>&1 | FileCheck %s

// The pointers' dialect is there although no type names it.

// CHECK: micro-kernel-alone.mlir:7:50: error: use of undeclared SSA value name

cpu.micro_kernel f32 rows 2 vectors 3 lanes 16 a(%a, %s, %s) b(%b, %s)
    steps %s inits(%z : vector<16xf32>) : vector<16xf32>
