//===- When.h - the condition of a schedule -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_DRIVER_WHEN_H
#define FACET_LIB_DRIVER_WHEN_H

#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Frontend/Syntax.h"

#include <optional>

namespace facet {

/// Whether `when` holds in every call of `kernel` (true) or in none (false), by the
/// sizes that the command line fixed; nullopt when calls differ.
std::optional<bool> isDecided(const syntax::Expr &when, kernel::FuncOp kernel);

} // namespace facet

#endif // FACET_LIB_DRIVER_WHEN_H
