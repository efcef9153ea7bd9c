//===- Promise.h - what the fuzzers share ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TEST_FUZZ_PROMISE_H
#define FACET_TEST_FUZZ_PROMISE_H

#include <cstdio>
#include <cstdlib>

/// Ends the fuzzer, which keeps the input, when something we promise is not so.
inline void promise(bool kept, const char *broken) {
  if (kept)
    return;
  std::fprintf(stderr, "promise broken: %s\n", broken);
  std::abort();
}

#endif // FACET_TEST_FUZZ_PROMISE_H
