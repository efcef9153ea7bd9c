//===- Optimise.h - LLVM's passes before code generation ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_TARGET_EMITOBJECT_OPTIMISE_H
#define FACET_LIB_TARGET_EMITOBJECT_OPTIMISE_H

#include "facet/Target/EmitObject.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace facet {

/// Runs the passes of `effort` on `module`.
void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              CodeEffort effort);

} // namespace facet

#endif // FACET_LIB_TARGET_EMITOBJECT_OPTIMISE_H
