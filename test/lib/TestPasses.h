//===- TestPasses.h - passes that exist only for tests --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TEST_LIB_TESTPASSES_H
#define FACET_TEST_LIB_TESTPASSES_H

namespace facet::test {

void registerEmitEnginePass();
void registerEmitHeaderPass();
void registerKernelTilePass();

/// All of them: facet-opt calls this when it is built with the tests.
inline void registerTestPasses() {
  registerEmitEnginePass();
  registerEmitHeaderPass();
  registerKernelTilePass();
}

} // namespace facet::test

#endif // FACET_TEST_LIB_TESTPASSES_H
