//===- KernelGenerator.h - random kernels that are legal ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A seed becomes a well-typed kernel in the language and sizes to run it at.
// Every sweep of the project draws from here: roads that must agree, rewrites
// that must keep the meaning, text that must format to itself.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_GENERATE_KERNELGENERATOR_H
#define FACET_GENERATE_KERNELGENERATOR_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace facet {

struct GeneratorOptions {
  unsigned maxLets = 3;
  unsigned maxResults = 3;
  unsigned maxDepth = 4;       ///< of one expression, reductions included
  int64_t maxPoints = 1 << 18; ///< bound on the product of a run's sizes
};

struct GeneratedKernel {
  uint64_t seed = 0;
  std::string name;   ///< of the one kernel in `source`
  std::string source; ///< legal text; formatting is the formatter's business
  /// Values for all its sizes: at least one run, the first without empty axes.
  std::vector<std::map<std::string, int64_t>> runs;
};

/// The same seed and options give the same kernel, on every machine.
GeneratedKernel generateKernel(uint64_t seed,
                               const GeneratorOptions &options = {});

} // namespace facet

#endif // FACET_GENERATE_KERNELGENERATOR_H
