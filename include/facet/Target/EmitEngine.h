//===- EmitEngine.h - engine programs become files of queues --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   FailureOr<Program> program = emitEngine(op, machine);
//   std::string file = writeProgram(*program);       // Isa/Container.h
//
//===----------------------------------------------------------------------===//

#ifndef FACET_TARGET_EMITENGINE_H
#define FACET_TARGET_EMITENGINE_H

#include "facet/Dialect/Engine/IR/Engine.h"
#include "facet/Isa/Program.h"

namespace facet {

/// Places the rings, gives them semaphores and registers, and cuts the one text
/// into a queue per engine. Errors are reported at the ops: a ring with two
/// writers, slots that do not balance, a memory that is too small (with everything
/// that lies in it), semaphores or registers that run out.
llvm::FailureOr<Program> emitEngine(engine::ProgramOp program,
                                    const Machine &machine);

/// How much of what its rings ask for the program does not get: 0 is all of it, from
/// `brokenPipeline` on engines wait for each other. Errors as emitEngine's.
llvm::FailureOr<double> lackOfRoom(engine::ProgramOp program,
                                   const Machine &machine);
constexpr double brokenPipeline = 4;

} // namespace facet

#endif // FACET_TARGET_EMITENGINE_H
