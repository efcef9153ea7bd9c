//===- Plan.h - plans, and schedules as plans read them -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entries of a schedule block, free of syntax: what PlanAttrInterface reads. Who
// implements or calls the interface includes this page.
//
//   schedule attention on "trn2" { s: block(i = 128, j = 512), stationary = q }
//
// has one entry, for the statement s, with two clauses.
//
//===----------------------------------------------------------------------===//

#ifndef FACET_DIALECT_KERNEL_IR_PLAN_H
#define FACET_DIALECT_KERNEL_IR_PLAN_H

#include "facet/Dialect/Kernel/IR/Explanation.h"
#include "facet/Dialect/Kernel/IR/Kernel.h"
#include "facet/Support/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace facet::kernel {

/// A word, or a number when `word` is empty.
struct ScheduleValue {
  std::string word;
  int64_t number = 0;
};

/// `stationary = q` has a value, `block(i = 128, j = 512)` and `fuse(s, p)` have
/// arguments, each with a value or without.
struct ScheduleClause {
  std::string name;
  Place place;
  std::optional<ScheduleValue> value;
  std::vector<std::pair<ScheduleValue, std::optional<ScheduleValue>>> arguments;
};

/// What is asked for one statement.
struct ScheduleEntry {
  std::string statement;
  Place place;
  std::vector<ScheduleClause> clauses;
};

} // namespace facet::kernel

#endif // FACET_DIALECT_KERNEL_IR_PLAN_H
