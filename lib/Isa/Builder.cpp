//===- Builder.cpp - programs put together from code ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interns table entries by their bytes, so that building n instructions takes
// time in proportion to n:
//
//   access(a), access(b), access(a)   ->   1, 2, 1
//
// (Records have no padding, so equal entries have equal bytes.)
//
//===----------------------------------------------------------------------===//

#include "facet/Isa/Builder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace facet;

template <typename T>
static uint32_t intern(std::vector<T> &table,
                       llvm::StringMap<uint32_t> &numbers, const T &entry) {
  static_assert(std::has_unique_object_representations_v<T>);
  llvm::StringRef key(reinterpret_cast<const char *>(&entry), sizeof entry);
  auto [at, added] = numbers.try_emplace(key, uint32_t(table.size() + 1));
  if (added)
    table.push_back(entry);
  return at->second;
}

uint32_t ProgramBuilder::access(const Access &access) {
  return intern(program.accesses, accesses, access);
}

uint32_t ProgramBuilder::affine(const AffineForm &form) {
  return intern(program.affines, affines, form);
}

uint16_t ProgramBuilder::predicate(const Predicate &p) {
  return uint16_t(intern(program.predicates, predicates, p));
}

uint32_t ProgramBuilder::location(const Location &l) {
  std::string key = (llvm::Twine(l.line) + ":" + llvm::Twine(l.column) + ":" +
                     llvm::Twine(l.file.size()) + ":" + l.file + l.op)
                        .str();
  auto [at, added] =
      locations.try_emplace(key, uint32_t(program.locations.size() + 1));
  if (added)
    program.locations.push_back(l);
  return at->second;
}

uint32_t ProgramBuilder::buffer(Buffer buffer) {
  program.buffers.push_back(std::move(buffer));
  return uint32_t(program.buffers.size() - 1);
}

uint32_t ProgramBuilder::semaphore(SemaphoreInfo semaphore) {
  program.semaphores.push_back(std::move(semaphore));
  return uint32_t(program.semaphores.size() - 1);
}

Queue &ProgramBuilder::queue(Engine engine) { return program.queue(engine); }

void ProgramBuilder::ring(Engine engine, uint32_t ring, uint32_t depth,
                          std::string name) {
  (void)queue(engine);
  uint32_t index = 0;
  while (program.queues[index].engine != engine)
    ++index;
  auto at = llvm::find_if(program.rings, [&](const RingInfo &r) {
    return std::pair(r.queue, r.ring) > std::pair(index, ring);
  });
  program.rings.insert(at, {index, ring, depth, std::move(name)});
}

Instruction ProgramBuilder::make(Opcode opcode) {
  Instruction instruction;
  instruction.opcode = uint16_t(opcode);
  for (const FieldInfo &field : opcodeInfo(instruction.opcode)->fields)
    setField(instruction, field.place, field.defaultBits);
  return instruction;
}

uint32_t ProgramBuilder::add(Engine engine, const Instruction &instruction,
                             uint32_t location) {
  Queue &q = queue(engine);
  q.code.push_back(instruction);
  q.locations.push_back(location);
  return uint32_t(q.code.size() - 1);
}

void ProgramBuilder::loop(Engine engine, uint32_t trips, uint32_t location) {
  Instruction instruction = make(Opcode::Loop);
  instruction.imm[0] = trips;
  open[unsigned(engine)].push_back(add(engine, instruction, location));
}

void ProgramBuilder::end(Engine engine) {
  uint32_t begin = open[unsigned(engine)].back();
  open[unsigned(engine)].pop_back();
  Instruction instruction = make(Opcode::End);
  instruction.imm[1] = begin;
  uint32_t at = add(engine, instruction);
  queue(engine).code[begin].imm[1] = at;
}
