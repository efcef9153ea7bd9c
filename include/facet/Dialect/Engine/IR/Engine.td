//===- Engine.td - table of contents of the engine dialect ----*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_ENGINE_IR_ENGINE_TD
#define FACET_DIALECT_ENGINE_IR_ENGINE_TD

include "facet/Dialect/Engine/IR/EngineDialect.td"
include "facet/Dialect/Engine/IR/EngineTypes.td"
include "facet/Dialect/Engine/IR/EngineAttrs.td"
include "facet/Dialect/Engine/IR/PlanAttrs.td"
include "facet/Dialect/Engine/IR/EngineOps.td"

#endif
