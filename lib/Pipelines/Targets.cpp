//===- Targets.cpp - the list of targets ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line each. The order is that of `facet targets`.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

using namespace facet;

llvm::ArrayRef<Target> facet::targets() {
  static const Target all[] = {
      referenceTarget(),      x86V2Target(),   x86V3Target(),
      x86V3VnniTarget(),      x86V4Target(),   zen4Target(),
      sapphireRapidsTarget(), aarch64Target(),
  };
  return all;
}

TargetRef facet::findTarget(llvm::StringRef name) {
  for (const Target &target : targets())
    if (target.name == name)
      return TargetRef(TargetRef(), &target); // lives as long as the program
  return nullptr;
}
