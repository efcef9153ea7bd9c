//===- Check.cpp - `facet check` ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Invocation.h"

using namespace facet;

ExitCode facet::runCheck(Invocation &invocation) {
  invocation.diagnostics.error({}, "check needs the judge, which this build "
                                   "does not have");
  return ExitCode::NotAvailable;
}
