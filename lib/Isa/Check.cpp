//===- Check.cpp - structure rules of a program ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds a program to what can be seen without running it. This file: tables,
// loops, words, semaphores; CheckOperands.cpp: what instructions do to memory.
//
//   queue tensor, instruction 7 (matmul): dst has 64 partitions, the weights
//   loaded before have 128 columns
//
// The same rules serve programs from files, from text and from the compiler, so
// nothing here may trust a number: indices are checked before they are followed,
// in the order tables, words, operands.
//
//===----------------------------------------------------------------------===//

#include "Checker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <tuple>

using namespace facet;
using llvm::Twine;

void Checker::error(const Twine &message) {
  Place place{file};
  std::string text = message.str();
  if (placeOf)
    place = placeOf(queue, current ? int(pc) : -1);
  else
    text = (Twine("queue ") + engineName(queueNow().engine) +
            (current ? ", instruction " + Twine(pc) + " (" +
                           (info ? info->mnemonic : "?") + ")"
                     : Twine("")) +
            ": " + message)
               .str();
  Diagnostic &d = diags.error(place, text);
  const Queue &q = queueNow();
  if (current && pc < q.locations.size() && q.locations[pc] &&
      q.locations[pc] <= program.locations.size()) {
    const Location &at = program.locations[q.locations[pc] - 1];
    d.note({at.file, at.line, at.column},
           at.op.empty() ? Twine("from here") : "from '" + at.op + "'");
  }
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Addresses and coefficients beyond this are no addresses; below it, sums and
/// products with counters stay inside 64 bits where affineRange says so.
static bool tooFar(int64_t value) {
  constexpr int64_t farthest = int64_t(1) << 46;
  return value > farthest || value < -farthest;
}

/// Names of buffers, semaphores and rings: identifiers that text can carry.
static bool isIdentifier(llvm::StringRef name) {
  return !name.empty() && name.size() <= 255 && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '.';
         });
}

void Checker::checkBuffers() {
  llvm::StringSet<> names;
  uint64_t dataBytes = 0;
  for (const Buffer &b : program.buffers) {
    dataBytes += b.data.size();
    auto bad = [&](const Twine &message) {
      fileError("buffer '" + b.name + "': " + message);
    };
    if (!isIdentifier(b.name))
      bad("a name is letters, digits, _ and ., and starts with no digit");
    if (!names.insert(b.name).second)
      bad("declared twice");
    if (b.shape.size() > 8 || b.strides.size() != b.shape.size())
      bad("the shape has " + Twine(b.shape.size()) + " axes and " +
          Twine(b.strides.size()) + " strides, allowed are up to 8 of each");
    if (b.dtype == DType::F8E4M3FN && !machine.tensor.f8e4m3fn)
      bad(Twine("machine '") + machine.name + "' has no f8e4m3fn");
    if (llvm::any_of(b.shape, [](int64_t n) { return n < 0; }))
      bad("a negative size");
    if (llvm::any_of(b.shape, tooFar) || llvm::any_of(b.strides, tooFar))
      bad("a size or stride is out of every memory");
    if ((b.kind == BufferKind::Data) != !b.data.empty() ||
        (b.kind == BufferKind::Data && b.data.size() != b.bytes))
      bad("data has " + Twine(b.data.size()) + " bytes, wanted " +
          (b.kind == BufferKind::Data ? Twine(b.bytes) : Twine("none")));
    if (b.liveEnd < b.liveBegin)
      bad("its live range ends before it begins");
    if (b.space == Space::Hbm) {
      uint64_t capacity = uint64_t(machine.hbm.bytes);
      if (b.partition || b.partitions)
        bad("hbm has no partitions");
      if (b.bytes > capacity || b.address > capacity - b.bytes)
        bad("bytes " + Twine(b.address) + " to " + Twine(b.address) + " + " +
            Twine(b.bytes) + " do not fit hbm, which has " + Twine(capacity));
      if (b.address % 64)
        bad("address " + Twine(b.address) + " is not a multiple of 64");
      continue;
    }
    if (b.kind != BufferKind::Scratch)
      bad(Twine("only hbm holds ") + bufferKindName(b.kind) + " buffers");
    uint64_t capacity =
        b.space == Space::Sbuf
            ? uint64_t(machine.sbuf.partitionBytes)
            : uint64_t(machine.psum.banks * machine.psum.bankBytes);
    if (b.space == Space::Index)
      bad("lies in no memory");
    else if (b.bytes > capacity || b.address > capacity - b.bytes)
      bad("bytes " + Twine(b.address) + " to " + Twine(b.address) + " + " +
          Twine(b.bytes) + " do not fit a partition of " + spaceName(b.space) +
          ", which has " + Twine(capacity));
    if (b.partitions < 1 ||
        b.partition + b.partitions > machine.core.partitions)
      bad("partitions " + Twine(b.partition) + " to " + Twine(b.partition) +
          " + " + Twine(b.partitions) + ", there are " +
          Twine(machine.core.partitions));
  }
  if (dataBytes > maxDataBytes)
    fileError("data buffers hold " + Twine(dataBytes) + " bytes, allowed are " +
              Twine(maxDataBytes));
}

/// Accesses name buffers, so two buffers that share bytes would hide a conflict.
void Checker::checkOverlaps() {
  std::vector<const Buffer *> inHbm;
  for (const Buffer &b : program.buffers)
    if (b.space == Space::Hbm && b.bytes)
      inHbm.push_back(&b);
  llvm::sort(inHbm, [](const Buffer *a, const Buffer *b) {
    return std::tie(a->address, a->name) < std::tie(b->address, b->name);
  });
  for (size_t i = 1; i < inHbm.size(); ++i)
    if (inHbm[i]->address - inHbm[i - 1]->address < inHbm[i - 1]->bytes)
      fileError("buffers '" + inHbm[i - 1]->name + "' and '" + inHbm[i]->name +
                "' overlap in hbm");
}

/// `s12` and `r3` are how text spells numbers; a name must not look like one.
static bool looksNumbered(llvm::StringRef name, char letter) {
  return name.size() > 1 && name[0] == letter &&
         llvm::all_of(name.drop_front(), llvm::isDigit);
}

void Checker::checkSemaphores() {
  if (program.semaphores.size() > size_t(machine.semaphore.count))
    fileError("the program has " + Twine(program.semaphores.size()) +
              " semaphores, the machine " + Twine(machine.semaphore.count));
  llvm::StringSet<> names;
  for (size_t i = 0; i != program.semaphores.size(); ++i) {
    const SemaphoreInfo &s = program.semaphores[i];
    auto bad = [&](const Twine &message) {
      fileError("semaphore " + Twine(i) + ": " + message);
    };
    if (!s.name.empty() &&
        (!isIdentifier(s.name) || looksNumbered(s.name, 's')))
      bad("a name is letters, digits, _ and ., and starts with no digit");
    if (!s.name.empty() && !names.insert(s.name).second)
      bad("'" + s.name + "' is declared twice");
    if (s.initial < 0 || s.initial > machine.semaphore.maxValue)
      bad("starts at " + Twine(s.initial) + ", allowed are 0 to " +
          Twine(machine.semaphore.maxValue));
    if (s.final < -1 || s.final > machine.semaphore.maxValue)
      bad("ends at " + Twine(s.final) + ", allowed are 0 to " +
          Twine(machine.semaphore.maxValue));
  }
}

bool Checker::checkRings() {
  bool ok = true;
  std::vector<bool> seen(program.queues.size() * numRings);
  uint64_t previous = 0;
  for (const RingInfo &r : program.rings) {
    auto bad = [&](const Twine &message) {
      fileError("ring '" + r.name + "': " + message);
      ok = false;
    };
    if (r.queue >= program.queues.size() || r.ring >= numRings) {
      bad("no such register");
      continue;
    }
    uint64_t key = uint64_t(r.queue) * numRings + r.ring;
    if (seen[key])
      bad("declared twice");
    else if (key < previous)
      bad("rings are declared in the order of queue and register");
    seen[key] = true;
    previous = key;
    if (r.depth < 1 || r.depth > 65535)
      bad("depth is " + Twine(r.depth) + ", allowed are 1 to 65535");
    if (!r.name.empty() &&
        (!isIdentifier(r.name) || looksNumbered(r.name, 'r')))
      bad("a name is letters, digits, _ and ., and starts with no digit");
  }
  return ok;
}

bool Checker::checkAccess(const Access &a, size_t index) {
  bool ok = true;
  auto bad = [&](const Twine &message) {
    fileError("access " + Twine(index) + ": " + message);
    ok = false;
  };
  if (unsigned(a.space) > unsigned(Space::Index) ||
      unsigned(a.dtype) >= numDTypes || a.rank > maxDims || a.reserved ||
      a.reserved2 || a.reserved3) {
    bad("not an access");
    return false;
  }
  uint64_t elements = 1;
  for (unsigned d = 0; d != maxDims; ++d) {
    if (d >= a.rank) {
      if (a.count[d] || a.step[d])
        bad("dimension " + Twine(d) + " is beyond its rank");
      continue;
    }
    if (a.count[d] == 0)
      bad("dimension " + Twine(d) + " has no elements");
    if (a.count[d] == 1 && a.step[d])
      bad("dimension " + Twine(d) + " of one element has a step");
    elements = std::min<uint64_t>(elements * a.count[d], uint64_t(1) << 40);
    if (tooFar(a.step[d]))
      bad("step " + Twine(a.step[d]) + " is out of every memory");
  }
  if (tooFar(a.offset) || tooFar(a.rowStep))
    bad("offset " + Twine(a.offset) + " or row step " + Twine(a.rowStep) +
        " is out of every memory");
  if (elements > (uint64_t(1) << 32))
    bad("more than 2^32 elements in a row");
  if (a.partitions < 1)
    bad("no rows");
  if (a.affine > program.affines.size())
    bad("affine form " + Twine(a.affine) + " does not exist");
  bool chip = a.space == Space::Sbuf || a.space == Space::Psum;
  if (a.space == Space::Hbm) {
    if (a.buffer >= program.buffers.size())
      bad("buffer " + Twine(a.buffer) + " does not exist");
    else if (program.buffers[a.buffer].space != Space::Hbm)
      bad("buffer '" + program.buffers[a.buffer].name + "' is not in hbm");
  } else if (a.buffer) {
    bad("names a buffer, but is not in hbm");
  }
  if (!chip && a.partition)
    bad("has a partition, but is not on chip");
  if (chip && a.rowStep)
    bad("has a row step, but is on chip");
  if (!chip && a.partitions == 1 && a.rowStep)
    bad("one row has a row step");
  if (chip && (a.partition + uint64_t(a.partitions) >
               uint64_t(machine.core.partitions)))
    bad("partitions " + Twine(a.partition) + " to " + Twine(a.partition) +
        " + " + Twine(a.partitions) + ", there are " +
        Twine(machine.core.partitions));
  if (a.dtype == DType::F8E4M3FN && !machine.tensor.f8e4m3fn)
    bad(Twine("machine '") + machine.name + "' has no f8e4m3fn");
  return ok;
}

bool Checker::checkForms() {
  bool ok = true;
  for (size_t i = 0; i != program.affines.size(); ++i) {
    const AffineForm &f = program.affines[i];
    bool plain = f.ring == -1 && f.slotStride == 0;
    bool ringed = f.ring >= 0 && f.ring < int(numRings);
    bool far = tooFar(f.base) || tooFar(f.slotStride) ||
               llvm::any_of(f.coefficients, tooFar);
    if ((!plain && !ringed) || far || f.reserved) {
      fileError("affine form " + Twine(i + 1) + ": not a form");
      ok = false;
    }
  }
  // Instructions name predicates in 16 bits; one more would be taken for another.
  if (program.predicates.size() > UINT16_MAX) {
    fileError("more than 65535 predicates");
    return false;
  }
  for (size_t i = 0; i != program.predicates.size(); ++i) {
    const Predicate &p = program.predicates[i];
    bool good = p.conditions >= 1 && p.conditions <= 4;
    for (unsigned c = 0; good && c != 4; ++c)
      good = c < p.conditions ? p.forms[c] < program.affines.size() &&
                                    p.compares[c] <= Predicate::Ge
                              : p.forms[c] == 0 && p.compares[c] == 0;
    if (!good) {
      fileError("predicate " + Twine(i + 1) + ": not a predicate");
      ok = false;
    }
  }
  return ok;
}

bool Checker::checkTables() {
  bool ok = true;
  if (!machine.isEngine()) {
    fileError(Twine("machine '") + machine.name +
              "' is a cpu; programs are for matrix engines");
    return false;
  }
  for (size_t i = 0; i != program.queues.size(); ++i) {
    const Queue &q = program.queues[i];
    if (q.core != 0 || unsigned(q.engine) >= numEngines ||
        (i && program.queues[i - 1].engine >= q.engine)) {
      fileError("queues: want at most one per engine of core 0, in the order "
                "tensor, vector, scalar, gpsimd, sync");
      return false;
    }
    if (q.locations.size() != q.code.size()) {
      fileError("queue " + Twine(engineName(q.engine)) + ": " +
                Twine(q.locations.size()) + " locations for " +
                Twine(q.code.size()) + " instructions");
      return false;
    }
  }
  checkBuffers();
  checkOverlaps();
  checkSemaphores();
  ok &= checkRings();
  ok &= checkForms();
  for (size_t i = 0; i != program.accesses.size(); ++i)
    ok &= checkAccess(program.accesses[i], i + 1);
  return ok;
}

//===----------------------------------------------------------------------===//
// Instruction words
//===----------------------------------------------------------------------===//

/// Members that the opcode does not use are 0; those it uses hold something.
bool Checker::checkWord() {
  const Instruction &i = *current;
  if (!info || (info->opcode != i.op()))
    return error("opcode " + Twine(i.opcode) + " is not an instruction"), false;
  if (!info->runsOn(queueNow().engine)) {
    std::string where;
    for (unsigned e = 0; e != numEngines; ++e)
      if (info->runsOn(Engine(e)))
        where +=
            (where.empty() ? "" : ", ") + std::string(engineName(Engine(e)));
    return error(Twine(info->mnemonic) + " does not run on " +
                 engineName(queueNow().engine) + "; it runs on " + where),
           false;
  }
  uint16_t flags = 0;
  for (const FlagInfo &f : info->flags)
    flags |= uint16_t(1u << f.bit);
  bool used[5] = {};
  for (const OperandInfo &o : info->operands)
    used[o.slot] = true;
  bool imm[2] = {}, sub[4] = {};
  for (const FieldInfo &f : info->fields)
    if (f.place <= FieldPlace::Imm1)
      imm[unsigned(f.place)] = true;
    else
      sub[unsigned(f.place) - unsigned(FieldPlace::Sub0)] = true;
  bool stray = (i.flags & ~flags) || i.reserved;
  for (unsigned n = 0; n != 5; ++n)
    stray |= !used[n] && i.operands[n];
  for (unsigned n = 0; n != 2; ++n)
    stray |= !imm[n] && i.imm[n];
  for (unsigned n = 0; n != 4; ++n)
    stray |= !sub[n] && i.sub[n];
  if (stray)
    return error("sets bits that " + Twine(info->mnemonic) + " does not use"),
           false;
  for (const OperandInfo &o : info->operands) {
    if (i.operands[o.slot] > program.accesses.size())
      return error(Twine(o.name) + " names access " +
                   Twine(i.operands[o.slot]) + ", there are " +
                   Twine(program.accesses.size())),
             false;
    if (o.need == Need::Required && !i.operands[o.slot])
      return error("lacks its operand " + Twine(o.name)), false;
  }
  if (i.predicate > program.predicates.size())
    return error("predicate " + Twine(i.predicate) + " does not exist"), false;
  return checkFields();
}

constexpr uint32_t maxTrips = 0x7fffffff;

bool Checker::checkFields() {
  for (const FieldInfo &f : info->fields) {
    uint32_t bits = getField(*current, f.place);
    auto refuse = [&](const Twine &allowed) {
      error(Twine(f.name) + " is " + Twine(bits) + ", allowed are " + allowed);
      return false;
    };
    switch (f.kind) {
    case FieldKind::Alu:
      if (bits >= numAlus)
        return refuse("0 to " + Twine(numAlus - 1));
      break;
    case FieldKind::Compare:
      if (bits < unsigned(Alu::Eq) || bits > unsigned(Alu::Ge))
        return error(Twine(f.name) +
                     " is no comparison; allowed are eq, ne, lt, le, "
                     "gt, ge"),
               false;
      break;
    case FieldKind::Function:
      if (bits >= numFunctions)
        return refuse("0 to " + Twine(numFunctions - 1));
      break;
    case FieldKind::Pass:
      if (bits > unsigned(Pass::High))
        return refuse("all, low, high");
      break;
    case FieldKind::Ring:
      if (bits >= numRings)
        return refuse("0 to " + Twine(numRings - 1));
      if (!program.ringDepth(queue, bits))
        return error("ring r" + Twine(bits) +
                     " is not declared for this queue"),
               false;
      break;
    case FieldKind::DmaRing:
      if (bits >= uint64_t(machine.dma.rings))
        return refuse("0 to " + Twine(machine.dma.rings - 1));
      break;
    case FieldKind::Semaphore:
      if (bits >= program.semaphores.size())
        return error("semaphore " + Twine(bits) + " is not declared"), false;
      break;
    case FieldKind::Signed:
      if (int32_t(bits) < 0 || int64_t(bits) > machine.semaphore.maxValue)
        return refuse("0 to " + Twine(machine.semaphore.maxValue));
      break;
    case FieldKind::Count:
    case FieldKind::Float:
    case FieldKind::Value:
    case FieldKind::Jump:
      break;
    }
  }
  if (current->op() == Opcode::Loop && current->imm[0] > maxTrips)
    return error("trips is " + Twine(current->imm[0]) + ", allowed are 0 to " +
                 Twine(maxTrips)),
           false;
  if (current->op() == Opcode::Advance &&
      (current->imm[0] < 1 || current->imm[0] > 65535))
    return error("steps is " + Twine(current->imm[0]) +
                 ", allowed are 1 to 65535"),
           false;
  return true;
}

/// Follows loop and end; both name each other.
bool Checker::checkNesting() {
  const Instruction &i = *current;
  const std::vector<Instruction> &code = queueNow().code;
  if (i.op() == Opcode::Loop) {
    if (loops.size() == maxLoops)
      return error("more than " + Twine(maxLoops) + " loops are nested"), false;
    uint32_t end = i.imm[1];
    if (end <= pc || end >= code.size() || code[end].op() != Opcode::End ||
        code[end].imm[1] != pc)
      return error("has no matching end"), false;
    loops.push_back(pc);
  } else if (i.op() == Opcode::End) {
    if (loops.empty() || loops.back() != i.imm[1] ||
        code[loops.back()].imm[1] != pc)
      return error("has no matching loop"), false;
    if (i.waits[0].ref.bits || i.waits[1].ref.bits || i.updates[0].ref.bits ||
        i.updates[1].ref.bits)
      return error("carries waits or updates; put them on a nop"), false;
    loops.pop_back();
  }
  if (i.predicate && (i.op() == Opcode::Loop || i.op() == Opcode::End))
    return error("carries a predicate; put it on the instructions inside"),
           false;
  return true;
}

void Checker::checkSemaphore(unsigned base, int ring, const Twine &what) {
  uint64_t last = base;
  if (ring >= 0) {
    uint32_t depth = program.ringDepth(queue, unsigned(ring));
    if (!depth)
      return error(what + " uses ring r" + Twine(ring) +
                   ", which is not declared for this queue");
    last += depth - 1;
  }
  if (last >= program.semaphores.size())
    error(what + " uses semaphore s" + Twine(last) + ", declared are " +
          Twine(program.semaphores.size()));
}

void Checker::checkSynchronisation() {
  for (const Wait &w : current->waits) {
    if (!w.ref.present()) {
      if (w.ref.bits || w.perRound || w.value)
        error("an absent wait is not all zero");
      continue;
    }
    if (w.ref.ring() >= int(numRings)) {
      error("a wait uses ring r" + Twine(w.ref.ring()));
      continue;
    }
    checkSemaphore(w.ref.base(), w.ref.ring(), "a wait");
    if (w.ref.ring() < 0 && w.perRound)
      error("a wait without a ring counts rounds");
  }
  for (const Update &u : current->updates) {
    if (!u.ref.present()) {
      if (u.ref.bits || u.amount)
        error("an absent update is not all zero");
      continue;
    }
    if (u.ref.equal() || u.ref.ring() >= int(numRings)) {
      error("an update is not one");
      continue;
    }
    checkSemaphore(u.ref.base(), u.ref.ring(), "an update");
    if (u.amount == 0)
      error("an update adds 0");
  }
  // Canonical order: the first place is filled first.
  if ((!current->waits[0].ref.present() && current->waits[1].ref.present()) ||
      (!current->updates[0].ref.present() && current->updates[1].ref.present()))
    error("uses its second wait or update before its first");
}

void Checker::checkFormUse(uint32_t affine, const Twine &what) {
  if (!affine)
    return;
  const AffineForm &form = program.affines[affine - 1];
  for (unsigned d = loops.size(); d < maxLoops; ++d)
    if (form.coefficients[d])
      return error(what + " uses counter i" + Twine(d) + ", but only " +
                   Twine(loops.size()) + " loops are around the instruction");
  if (form.ring >= 0 && !program.ringDepth(queue, unsigned(form.ring)))
    return error(what + " uses ring r" + Twine(form.ring) +
                 ", which is not declared for this queue");
  Range range = affineRangeIn(program, queue, loops, affine);
  constexpr int64_t limit = int64_t(1) << 60;
  if (range.min < -limit || range.max > limit)
    error(what + " leaves the range of addresses in these loops");
}

void Checker::checkQueue() {
  const std::vector<Instruction> &code = queueNow().code;
  loops.clear();
  weights = nullptr;
  for (pc = 0; pc != code.size(); ++pc) {
    if (diags.limitReached())
      return;
    current = &code[pc];
    info = opcodeInfo(current->opcode);
    bool good = checkWord();
    if (!checkNesting())
      return; // what follows cannot be read
    if (!good)
      continue;
    checkSynchronisation();
    if (current->predicate) {
      const Predicate &p = program.predicates[current->predicate - 1];
      for (unsigned c = 0; c != p.conditions; ++c)
        checkFormUse(p.forms[c] + 1, "the predicate");
    }
    checkOperands();
  }
  current = nullptr;
  if (!loops.empty()) {
    pc = loops.back();
    current = &code[pc];
    info = opcodeInfo(current->opcode);
    error("has no matching end");
    current = nullptr;
  }
}

bool Checker::run() {
  unsigned before = diags.errorCount();
  if (checkTables())
    for (queue = 0; queue != program.queues.size(); ++queue)
      checkQueue();
  return diags.errorCount() == before;
}

bool facet::checkProgram(const Program &program, Diagnostics &diags,
                         llvm::StringRef file, PlaceOfInstruction placeOf) {
  return Checker(program, diags, file, std::move(placeOf)).run();
}
