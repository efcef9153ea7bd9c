//===- Cpu.td - table of contents of the cpu dialect ----------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_CPU_IR_CPU_TD
#define FACET_DIALECT_CPU_IR_CPU_TD

include "facet/Dialect/Cpu/IR/CpuDialect.td"
include "facet/Dialect/Cpu/IR/CpuAttrs.td"
include "facet/Dialect/Cpu/IR/CpuOps.td"
include "facet/Dialect/Cpu/IR/PlanAttrs.td"

#endif
