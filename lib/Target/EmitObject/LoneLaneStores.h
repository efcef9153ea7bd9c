//===- LoneLaneStores.h - masked stores of one lane -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_TARGET_EMITOBJECT_LONELANESTORES_H
#define FACET_LIB_TARGET_EMITOBJECT_LONELANESTORES_H

#include "llvm/IR/Module.h"

namespace facet {

/// Makes a plain store of every masked store whose mask is a constant with one lane.
void replaceLoneLaneStores(llvm::Module &module);

} // namespace facet

#endif // FACET_LIB_TARGET_EMITOBJECT_LONELANESTORES_H
