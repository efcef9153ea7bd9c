//===- Builder.h - programs put together from code ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds a Program of any size: tables are interned by hash, loops are closed by
// themselves, queues come out in order.
//
//   ProgramBuilder b(machine);
//   uint32_t x = b.buffer(...);
//   b.loop(Engine::Sync, 8);
//   Instruction copy = b.make(Opcode::DmaCopy);
//   copy.operands[0] = b.access(dst);
//   copy.operands[1] = b.access(src);
//   b.add(Engine::Sync, copy);
//   b.end(Engine::Sync);
//   Program p = b.finish();
//
//===----------------------------------------------------------------------===//

#ifndef FACET_ISA_BUILDER_H
#define FACET_ISA_BUILDER_H

#include "facet/Isa/Program.h"

#include "llvm/ADT/StringMap.h"

namespace facet {

class ProgramBuilder {
public:
  explicit ProgramBuilder(Machine machine) {
    program.machine = std::move(machine);
  }

  // Tables; what is returned is what instructions, accesses and predicates store.
  uint32_t access(const Access &access);       ///< index + 1
  uint32_t affine(const AffineForm &form);     ///< index + 1
  uint16_t predicate(const Predicate &p);      ///< index + 1
  uint32_t location(const Location &location); ///< index + 1

  uint32_t buffer(Buffer buffer);              ///< index
  uint32_t semaphore(SemaphoreInfo semaphore); ///< number
  void ring(Engine engine, uint32_t ring, uint32_t depth,
            std::string name = "");
  void note(std::string key, std::string value) {
    program.notes.emplace_back(std::move(key), std::move(value));
  }

  /// An instruction with its fields at their defaults.
  static Instruction make(Opcode opcode);
  /// Appends to a queue; returns the instruction's index in it.
  uint32_t add(Engine engine, const Instruction &instruction,
               uint32_t location = 0);
  void loop(Engine engine, uint32_t trips, uint32_t location = 0);
  void end(Engine engine);
  /// Loops of a queue that are open.
  unsigned depth(Engine engine) const {
    return unsigned(open[unsigned(engine)].size());
  }

  /// The program so far; queues may be missing while nothing was added to them.
  Program &get() { return program; }
  Program finish() { return std::move(program); }

private:
  Queue &queue(Engine engine);

  Program program;
  llvm::StringMap<uint32_t> accesses, affines, predicates, locations;
  std::vector<uint32_t> open[numEngines];
};

} // namespace facet

#endif // FACET_ISA_BUILDER_H
