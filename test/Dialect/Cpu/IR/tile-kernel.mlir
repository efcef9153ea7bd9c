// RUN: facet-opt %s | facet-opt | FileCheck %s

// CHECK-LABEL: @blocks
func.func @blocks(%a: !llvm.ptr, %b: !llvm.ptr, %width: i64, %k: i64, %sums: !llvm.ptr, %left: i64) {
  // CHECK: cpu.tile_shape %[[LEFT:.*]]
  cpu.tile_shape %left
  // CHECK-NEXT: cpu.tile_kernel tile_bf16 tiles 2 vectors 2 a(%{{.*}}) b(%{{.*}}, %{{.*}}) steps %{{.*}} sums(%{{.*}})
  cpu.tile_kernel tile_bf16 tiles 2 vectors 2 a(%a) b(%b, %width) steps %k sums(%sums)
  // CHECK-NEXT: cpu.tile_kernel tile_u8s8 tiles 1 vectors 1
  cpu.tile_kernel tile_u8s8 tiles 1 vectors 1 a(%a) b(%b, %width) steps %k sums(%sums)
  // CHECK-NEXT: cpu.tile_release
  cpu.tile_release
  return
}
