// RUN: facet-opt %s | facet-opt | FileCheck %s

// CHECK-LABEL: @tile
// CHECK: cpu.micro_kernel f32 rows 2 vectors 1 lanes 16 a(%{{.*}}, %{{.*}}, %{{.*}}) b(%{{.*}}, %{{.*}}) steps %{{.*}} inits(%{{.*}}, %{{.*}} : vector<16xf32>, vector<16xf32>) : vector<16xf32>, vector<16xf32>
func.func @tile(%a: !llvm.ptr, %b: !llvm.ptr, %s: i64, %z: vector<16xf32>) -> vector<16xf32> {
  %acc:2 = cpu.micro_kernel f32 rows 2 vectors 1 lanes 16
      a(%a, %s, %s) b(%b, %s) steps %s inits(%z, %z : vector<16xf32>, vector<16xf32>)
      : vector<16xf32>, vector<16xf32>
  return %acc#0 : vector<16xf32>
}

// CHECK-LABEL: @masked
// CHECK: mask %{{.*}} : vector<8xi1>
func.func @masked(%a: !llvm.ptr, %b: !llvm.ptr, %s: i64, %m: vector<8xi1>, %z: vector<8xi32>) -> vector<8xi32> {
  %acc = cpu.micro_kernel i32 rows 1 vectors 1 lanes 8
      a(%a, %s, %s) b(%b, %s) steps %s mask %m : vector<8xi1> inits(%z : vector<8xi32>) : vector<8xi32>
  return %acc : vector<8xi32>
}
