//===- Schedules.cpp - schedule blocks meet plans -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   schedule attention on "trn2" { s: block(i = 128, j = 512), stationary = q }
//
// Syntax becomes plain entries, which the plan of the target understands or refuses
// at their places. Schedules on other targets are left alone: one file serves many.
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"
#include "When.h"
#include "facet/Driver/CommandLine.h"

using namespace llvm;
using namespace facet;

static kernel::ScheduleValue convert(const syntax::Value &value) {
  return {value.word, value.number};
}

static kernel::ScheduleClause convert(const syntax::Clause &clause,
                                      StringRef file) {
  kernel::ScheduleClause result;
  result.name = clause.name.text;
  result.place = syntax::placeIn(file, clause.name.span);
  if (clause.value)
    result.value = convert(*clause.value);
  if (clause.arguments)
    for (const syntax::ClauseArgument &argument : *clause.arguments) {
      std::optional<kernel::ScheduleValue> value;
      if (argument.value)
        value = convert(*argument.value);
      result.arguments.emplace_back(convert(argument.name), std::move(value));
    }
  return result;
}

static std::vector<kernel::ScheduleEntry>
convert(const syntax::Schedule &schedule) {
  std::vector<kernel::ScheduleEntry> entries;
  for (const syntax::ScheduleEntry &entry : schedule.entries) {
    kernel::ScheduleEntry result;
    result.statement = entry.statement.text;
    result.place = syntax::placeIn(schedule.file, entry.statement.span);
    for (const syntax::Clause &clause : entry.clauses)
      result.clauses.push_back(convert(clause, schedule.file));
    entries.push_back(std::move(result));
  }
  return entries;
}

/// Statements that the schedule names and the kernel lacks. The frontend has said
/// so for a schedule in the kernel's own file.
static bool namesStatements(const syntax::Schedule &schedule,
                            kernel::FuncOp kernel, Diagnostics &diagnostics) {
  SmallVector<StringRef> statements;
  kernel.walk([&](kernel::StructuredOpInterface op) {
    if (std::optional<StringRef> name = op.getName())
      statements.push_back(*name);
  });
  bool good = true;
  for (const syntax::ScheduleEntry &entry : schedule.entries) {
    StringRef name = entry.statement.text;
    if (is_contained(statements, name))
      continue;
    good = false;
    diagnostics.error(syntax::placeIn(schedule.file, entry.statement.span),
                      "kernel '" + kernel.getSymName() +
                          "' has no statement '" + name + "'" +
                          didYouMean(name, statements));
  }
  return good;
}

kernel::PlanAttrInterface
facet::applySchedules(kernel::PlanAttrInterface plan, kernel::FuncOp kernel,
                      const Machine *machine, ArrayRef<StringRef> targets,
                      ArrayRef<syntax::Schedule> schedules,
                      Diagnostics &diagnostics) {
  kernel::PlanAttrInterface chosen;
  bool good = true;
  for (const syntax::Schedule &schedule : schedules) {
    if (!is_contained(targets, schedule.target) ||
        StringRef(schedule.kernel.text) != kernel.getSymName())
      continue;
    if (!namesStatements(schedule, kernel, diagnostics)) {
      good = false;
      continue;
    }
    std::optional<bool> holds =
        schedule.when ? isDecided(*schedule.when, kernel) : true;
    // One for other sizes need not fit these.
    if (holds == false)
      continue;
    FailureOr<kernel::PlanAttrInterface> overridden =
        plan.parseSchedule(kernel, machine, convert(schedule), diagnostics);
    if (failed(overridden)) {
      good = false;
      continue;
    }
    if (chosen)
      continue;
    if (!holds) {
      // What is taken would depend on the call; later schedules would, too.
      diagnostics.error(syntax::placeIn(schedule.file, schedule.when->span),
                        "whether this holds is known at the call only; fix its "
                        "sizes with -D");
      good = false;
    } else {
      chosen = *overridden;
    }
  }
  if (!good)
    return nullptr;
  return chosen ? chosen : plan;
}
