//===- LongLoops.h - loops that carry sums are long -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_TARGET_EMITOBJECT_LONGLOOPS_H
#define FACET_LIB_TARGET_EMITOBJECT_LONGLOOPS_H

#include "llvm/IR/Module.h"

namespace facet {

/// Tells LLVM that loops which carry several vectors take many steps.
void markLongLoops(llvm::Module &module);

} // namespace facet

#endif // FACET_LIB_TARGET_EMITOBJECT_LONGLOOPS_H
