//===- Origin.cpp - which instructions made a byte ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes through the program in the usual order, as the proof of races does, and keeps for
// each instruction executed the ones that wrote what it reads:
//
//   0 dma_copy dst=A          from -
//   1 load_weights A          from 0
//   2 matmul dst=P            from 1, and from itself for what it adds to
//   3 copy dst=B, src=P       from 2
//   4 dma_copy dst=y, src=B   from 3        a byte of y: 4, 3, 2, 1, 0
//
//===----------------------------------------------------------------------===//

#include "facet/Sim/Origin.h"
#include "Shadow.h"
#include "Trace.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace facet;
using namespace facet::sim;

/// Programs of more instructions are not followed; a call that check has made smaller
/// runs some thousands.
constexpr uint64_t maxFollowed = uint64_t(1) << 20;
/// Stretches of bytes that are looked at, a second.
constexpr uint64_t maxStretches = uint64_t(1) << 24;

namespace {
/// An instruction, one of the times it was executed.
struct Executed {
  unsigned queue;
  uint32_t pc, step;
  llvm::SmallVector<uint32_t, 4> from; // indices of others
};

class Follower {
public:
  explicit Follower(const Program &program)
      : program(program), shadow(program) {}
  /// False: the program is too long.
  bool run();
  std::vector<OriginStep> origin(unsigned buffer, int64_t byte);

private:
  void visit(const Walk &walk, unsigned queue);
  /// Calls visit(line, begin, end) for each stretch of an operand.
  void forEachStretch(
      const Touch &touch, __int128 form,
      llvm::function_ref<void(ShadowLine &, int64_t, int64_t)> visit);

  const Program &program;
  Shadow shadow; ///< its epochs hold indices of `executed`, as steps
  std::vector<Executed> executed;
  std::optional<uint32_t> weights; ///< loaded last
  uint64_t stretches = 0;
};
} // namespace

void Follower::forEachStretch(
    const Touch &touch, __int128 form,
    llvm::function_ref<void(ShadowLine &, int64_t, int64_t)> visit) {
  Footprint f;
  if (shadow.isConstant(*touch.access) ||
      !footprintOf(program, *touch.access, form, f))
    return;
  shadow.forEachLine(f, [&](uint32_t, ShadowLine &line) {
    stretches += uint64_t(f.stretches());
    if (stretches <= maxStretches)
      f.forEach([&](int64_t begin, int64_t end) { visit(line, begin, end); });
  });
}

void Follower::visit(const Walk &walk, unsigned queue) {
  const Stream &stream = walk.stream(queue);
  const Instruction &i = stream.now();
  Executed now{queue, stream.at(), walk.step(queue), {}};
  llvm::SmallVector<Touch, 5> touches = touchesOf(program, i);
  for (const Touch &touch : touches)
    if (touch.reads)
      forEachStretch(touch, stream.value(touch.access->affine),
                     [&](ShadowLine &line, int64_t begin, int64_t end) {
                       line.visit(begin, end, [&](int64_t, Cell &cell) {
                         if (cell.hasWriter &&
                             !llvm::is_contained(now.from, cell.writer.step))
                           now.from.push_back(cell.writer.step);
                       });
                     });
  if (i.op() == Opcode::Matmul && weights)
    now.from.push_back(*weights);
  Epoch me;
  me.step = uint32_t(executed.size());
  for (const Touch &touch : touches)
    if (touch.writes)
      forEachStretch(touch, stream.value(touch.access->affine),
                     [&](ShadowLine &line, int64_t begin, int64_t end) {
                       line.write(begin, end, me);
                     });
  if (i.op() == Opcode::LoadWeights)
    weights = me.step;
  executed.push_back(std::move(now));
}

bool Follower::run() {
  Walk walk(program);
  return walk.run(maxFollowed, [&](unsigned queue) {
    if (stretches <= maxStretches)
      visit(walk, queue);
  }) && stretches <= maxStretches;
}

std::vector<OriginStep> Follower::origin(unsigned buffer, int64_t byte) {
  Footprint wanted;
  wanted.space = Space::Hbm;
  wanted.buffer = buffer;
  std::set<uint32_t, std::greater<uint32_t>> left;
  shadow.forEachLine(wanted, [&](uint32_t, ShadowLine &line) {
    line.visit(byte, byte + 1, [&](int64_t, Cell &cell) {
      if (cell.hasWriter)
        left.insert(cell.writer.step);
    });
  });
  std::vector<OriginStep> steps;
  std::map<std::pair<unsigned, uint32_t>, size_t> known;
  std::map<std::pair<unsigned, uint32_t>, size_t> atStep;
  while (!left.empty()) {
    const Executed &now = executed[*left.begin()];
    left.erase(left.begin());
    left.insert(now.from.begin(), now.from.end());
    auto [at, isNew] = known.try_emplace({now.queue, now.pc}, steps.size());
    if (!isNew) {
      ++steps[at->second].times;
      continue;
    }
    atStep[{now.queue, now.step}] = steps.size();
    steps.push_back({int(now.queue), int(now.pc), "", 1});
  }
  // What counters held is asked of a second walk, not kept for every instruction.
  Walk walk(program);
  (void)walk.run(maxFollowed, [&](unsigned queue) {
    if (auto at = atStep.find({queue, walk.step(queue)}); at != atStep.end())
      steps[at->second].when = walk.stream(queue).describe();
  });
  return steps;
}

std::vector<OriginStep> sim::originOf(const Program &program, unsigned buffer,
                                      int64_t byte) {
  Follower follower(program);
  if (!follower.run())
    return {};
  return follower.origin(buffer, byte);
}
