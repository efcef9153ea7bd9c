//===- Kernel.td - table of contents of the kernel dialect ----*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_IR_KERNEL_TD
#define FACET_DIALECT_KERNEL_IR_KERNEL_TD

include "facet/Dialect/Kernel/IR/KernelDialect.td"
include "facet/Dialect/Kernel/IR/KernelAttrs.td"
include "facet/Dialect/Kernel/IR/KernelInterfaces.td"
include "facet/Dialect/Kernel/IR/PlanInterface.td"
include "facet/Dialect/Kernel/IR/FunctionOps.td"
include "facet/Dialect/Kernel/IR/StructuredOps.td"
include "facet/Dialect/Kernel/IR/ScalarOps.td"

#endif
