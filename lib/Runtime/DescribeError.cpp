//===- DescribeError.cpp - an error record as a sentence ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a facet_error into what a person wants to read:
//
//   { FACET_E_STRIDE, axis 0, "linear", "x", 3, 4 }
//     ─▶ linear: 'x', axis 0: a stride does not fit its array: found 3, wanted at least 4
//
// How `found` and `wanted` are to be read depends on the code; this is the one
// place that knows, beside the comments in facet/abi.h.
//
//===----------------------------------------------------------------------===//

#include "facet/runtime.h"

#include <cinttypes>
#include <cstdio>

namespace {

/// The part after the sentence of the code; empty when the numbers say nothing.
void describeNumbers(const facet_error &error, char *text, size_t bytes) {
  const long long found = error.found, wanted = error.wanted;
  text[0] = '\0';
  switch (error.code) {
  case FACET_E_EXEC:
  case FACET_E_STRIDE:
  case FACET_E_WORKSPACE:
    std::snprintf(text, bytes, ": found %lld, wanted at least %lld", found,
                  wanted);
    break;
  case FACET_E_LEVEL:
    if (found == FACET_LEVEL_ANY)
      std::snprintf(text, bytes, ": wanted at least %lld", wanted);
    else
      std::snprintf(text, bytes, ": capped at %lld, wanted at least %lld",
                    found, wanted);
    break;
  case FACET_E_SIZE:
  case FACET_E_ODD:
    std::snprintf(text, bytes, ": found %lld", found);
    break;
  case FACET_E_INDEX:
    std::snprintf(text, bytes, ": found %lld, wanted 0 to %lld", found,
                  wanted - 1);
    break;
  case FACET_E_FIXED:
  case FACET_E_PACKED:
  case FACET_E_DEVICE:
  case FACET_E_TYPE:
  case FACET_E_RANK:
  case FACET_E_SHAPE:
    std::snprintf(text, bytes, ": found %lld, wanted %lld", found, wanted);
    break;
  case FACET_E_ALIGN:
    std::snprintf(text, bytes, ": address 0x%llx, wanted a multiple of %lld",
                  static_cast<unsigned long long>(found), wanted);
    break;
  default:
    break;
  }
}

} // namespace

int facet_describe_error(const facet_error *error, char *text, size_t bytes) {
  if (!error)
    return std::snprintf(text, bytes, "%s", facet_strerror(FACET_OK));
  const char *kernel = error->kernel ? error->kernel : "kernel";
  if (error->code <= FACET_E_REQUIRE)
    return std::snprintf(text, bytes, "%s: the promise '%s' is broken", kernel,
                         error->argument ? error->argument : "");
  char numbers[128], axis[32] = "";
  describeNumbers(*error, numbers, sizeof numbers);
  if (error->axis >= 0)
    std::snprintf(axis, sizeof axis, ", axis %" PRId32, error->axis);
  const char *what = facet_strerror(error->code);
  if (!error->argument)
    return std::snprintf(text, bytes, "%s: %s%s", kernel, what, numbers);
  return std::snprintf(text, bytes, "%s: '%s'%s: %s%s", kernel, error->argument,
                       axis, what, numbers);
}
