//===- AvailableCpus.h - how many CPUs this process may use ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_RUNTIME_AVAILABLECPUS_H
#define FACET_LIB_RUNTIME_AVAILABLECPUS_H

#include <cstdint>

namespace facet {

/// CPUs of the affinity mask, or fewer when the cgroup's quota is less; at least 1.
int32_t availableCpus();

/// The limit in the text of a cgroup v2 `cpu.max` ("200000 100000" is 2 CPUs, a
/// part of one counts as one); 0 when it sets none or is not of that form.
int32_t cpusOfQuota(const char *text);

} // namespace facet

#endif // FACET_LIB_RUNTIME_AVAILABLECPUS_H
