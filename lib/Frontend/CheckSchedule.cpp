//===- CheckSchedule.cpp - what a schedule says of its kernel -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names before the colons are statements of the kernel and `when` is a
// condition on its sizes; both are checked here. What the clauses mean is the
// target's business, so they are checked there.
//
//===----------------------------------------------------------------------===//

#include "KernelChecker.h"
#include "facet/Frontend/Frontend.h"
#include "llvm/ADT/StringSet.h"

using namespace facet;
using namespace facet::checked;
using llvm::StringRef;

bool facet::checkSchedule(const Kernel &kernel,
                          const syntax::Schedule &schedule,
                          Diagnostics &diagnostics) {
  unsigned before = diagnostics.errorCount();
  KernelChecker::checkSchedule(kernel, schedule, diagnostics);
  return diagnostics.errorCount() == before;
}

void KernelChecker::checkSchedule(const Kernel &kernel,
                                  const syntax::Schedule &schedule,
                                  Diagnostics &diagnostics) {
  llvm::SmallVector<StringRef> statements;
  for (const Statement &statement : kernel.statements)
    statements.push_back(statement.target->name);
  llvm::StringSet<> known;
  known.insert_range(statements);
  llvm::StringMap<syntax::Span> seen;
  for (const syntax::ScheduleEntry &entry : schedule.entries) {
    const std::string &name = entry.statement.text;
    Place where = placeIn(schedule.file, entry.statement.span);
    if (!known.contains(name)) {
      std::string similar = nearest(name, statements);
      diagnostics
          .error(
              where,
              "kernel `" + kernel.name + "` has no statement `" + name + "`" +
                  (similar.empty() ? "" : "; did you mean `" + similar + "`?"))
          .note(kernel.place, "the kernel is here");
    }
    auto [old, isNew] = seen.try_emplace(name, entry.statement.span);
    if (!isNew)
      diagnostics
          .error(where, "`" + name +
                            "` has two entries; write its clauses in "
                            "one")
          .note(placeIn(schedule.file, old->second), "the first is here");
  }
  if (!schedule.when)
    return;
  static const syntax::Kernel noSyntax;
  static const GlobalNames noNames;
  KernelChecker checker(noSyntax, schedule.file, noNames, diagnostics);
  checker.mode = Mode::When;
  checker.kernel->sizes = kernel.sizes;
  for (auto [number, size] : llvm::enumerate(kernel.sizes))
    checker.sizes[size.name] = number;
  for (const auto &variable : kernel.variables)
    if (variable->kind != VariableKind::Let)
      checker.variables[variable->name] = variable.get();
  Environment env{schedule.file, nullptr, {}, nullptr, {}};
  checker.condition(*schedule.when, env, "`when`");
}
