//===- Reseal.h - forged files with right checksums -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_TEST_UNIT_ISA_RESEAL_H
#define FACET_TEST_UNIT_ISA_RESEAL_H

#include <cstdint>
#include <vector>

namespace facet::test {

/// Makes all checksums and the build id of a damaged file right again, as far as
/// its table can be read, so that the damage gets past them.
void reseal(std::vector<uint8_t> &file);

} // namespace facet::test

#endif // FACET_TEST_UNIT_ISA_RESEAL_H
