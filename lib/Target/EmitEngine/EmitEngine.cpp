//===- EmitEngine.cpp - engine programs become queues ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk in the order of the text adds every instruction to the queue of its
// engine, loops to every queue that has something inside, and turns the four words of
// rings into waits, updates and steps of ring registers:
//
//   %a = acquire %r         the writer's first use of %a:  wait(free[r0] >= 1*round)
//   dma_copy(dst = %a)                                     update(full[r0] += 1)
//   commit %r                                              advance r0
//   %b = wait %r            the reader's first use of %b:  wait(full[r0] >= 16 + 16*round)
//   matmul(moving = %b)     the last use before release:   update(free[r0] += 1)
//   release %r                                             advance r0
//
// A wait in a loop whose slot is opened outside holds at once after the first time.
// What finds no place in an instruction rides on a nop.
//
//===----------------------------------------------------------------------===//

#include "facet/Target/EmitEngine.h"
#include "Rings.h"
#include "facet/Isa/Builder.h"
#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

namespace {

/// A slot of a ring between acquire and commit, or wait and release.
struct Slot {
  Ring *ring = nullptr;
  bool writes = false;
  /// Its place among the slots opened since none was.
  unsigned position = 0;
  Block *block = nullptr;
  /// By agent: it has waited for the slot.
  SmallVector<Agent, 4> waited;
  /// By queue: the engine's last use, when that is an instruction of the slot's own
  /// block, done always; -1 when it is not.
  llvm::SmallMapVector<unsigned, int64_t, 4> last;
  /// By queue: transfers emitted.
  llvm::SmallMapVector<unsigned, int64_t, 4> transfers;
};

class Emitter {
public:
  Emitter(ProgramOp program, const Machine &machine)
      : program(program), machine(machine), builder(machine) {}
  FailureOr<Program> run();

private:
  // Declarations.
  LogicalResult declareBuffers();
  void declareSemaphores(unsigned count);
  void declareCursors();

  // Walk.
  LogicalResult emitBlock(Block &block);
  LogicalResult emitLoop(ForOp loop);
  LogicalResult emitIssue(IssueOp op);
  void open(Operation &op, bool writes);
  void close(Operation &op, bool writes);
  void emitBarrier(Operation &op);

  // Pieces of an instruction.
  void setOperand(IssueOp op, unsigned tile, Instruction &instruction);
  LogicalResult setField(IssueOp op, const OpcodeInfo &info,
                         NamedAttribute field, Instruction &instruction);
  AffineForm formOf(AffineExpr expr, ValueRange counters, Engine queue,
                    int64_t scale);
  uint16_t predicateOf(IssueOp op);
  SemaphoreRef semaphore(unsigned base, const Ring &ring, const Slot &slot,
                         Engine queue);
  SmallVector<Wait> waitsOf(Slot &slot, Agent agent);
  void addUpdate(Engine queue, int64_t pc, Update update,
                 mlir::Location location);
  uint32_t locationOf(mlir::Location location, StringRef mnemonic);
  void collectQueues(Block &block, llvm::SmallSet<unsigned, 8> &queues);

  ProgramOp program;
  const Machine &machine;
  ProgramBuilder builder;
  Rings rings;
  llvm::DenseMap<Value, uint32_t> buffers;
  llvm::DenseMap<Value, Slot> slots;                      // open ones, by root
  llvm::DenseMap<Value, SmallVector<Value>> openSlots[2]; // by ring; 0: read
  llvm::DenseMap<Value, unsigned> opened[2];              // since none was open
  llvm::DenseMap<Value, int64_t> filled;                  // committed so far
  SmallVector<Operation *> loops[numEngines];
  int64_t times = 1;
  unsigned barrier = 0;
  int64_t barrierValue = 0;
  int stage = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

LogicalResult Emitter::declareBuffers() {
  // Where buffers start; a packet of the DMA engines never has to begin before.
  constexpr uint64_t align = 4096;
  uint64_t address = 0;
  for (auto op : program.getBody()->getOps<BufferOp>()) {
    TileType type = op.getType();
    Buffer buffer;
    buffer.name = op.getName().str();
    buffer.dtype = *dtypeOf(type.getElementType());
    buffer.kind = BufferKind(op.getUse());
    buffer.address = address;
    int64_t bytes;
    if (llvm::MulOverflow<int64_t>(type.getElements(), dtypeBytes(buffer.dtype),
                                   bytes))
      return op.emitOpError("has more bytes than 64 bits count");
    buffer.bytes = bytes;
    if (address + buffer.bytes > uint64_t(machine.hbm.bytes))
      return op.emitOpError("does not fit hbm: with the buffers before it ")
             << address + buffer.bytes << " bytes of " << machine.hbm.bytes;
    address = llvm::alignTo(address + buffer.bytes, align);
    buffer.shape = type.getShape().vec();
    buffer.strides.assign(buffer.shape.size(), 1);
    for (size_t i = buffer.shape.size(); i-- > 1;)
      buffer.strides[i - 1] = buffer.strides[i] * buffer.shape[i];
    buffers[op.getResult()] = builder.buffer(std::move(buffer));
  }
  for (auto &[key, ring] : rings) {
    if (ring.firstStage < 0)
      continue;
    TileType tile = ring.type().getTile();
    Buffer buffer;
    buffer.name = ring.op.getName().str();
    buffer.space = tile.getMemory() == Memory::Psum ? Space::Psum : Space::Sbuf;
    buffer.dtype = *dtypeOf(tile.getElementType());
    buffer.partitions = tile.getRows();
    buffer.address = ring.address;
    buffer.bytes = ring.stride * ring.slots();
    buffer.liveBegin = ring.firstStage;
    buffer.liveEnd = ring.lastStage + 1;
    builder.buffer(std::move(buffer));
  }
  return success();
}

void Emitter::declareSemaphores(unsigned count) {
  std::vector<SemaphoreInfo> infos(count);
  for (auto &[key, ring] : rings)
    for (int64_t slot = 0; slot < ring.slots(); ++slot) {
      std::string suffix = "_" + ring.op.getName().str() + std::to_string(slot);
      int64_t fills = ring.fillsOf(slot, ring.rounds);
      if (ring.full)
        infos[*ring.full + slot] = {"full" + suffix, 0,
                                    int32_t(ring.perRound * fills)};
      for (const Reader &reader : ring.readers)
        if (reader.free)
          infos[*reader.free + slot] = {
              "free" + suffix + "_" + engineName(reader.agent.queue) +
                  (reader.agent.transfers ? "_dma" : ""),
              0, int32_t(reader.perRound * fills)};
    }
  for (SemaphoreInfo &info : infos)
    builder.semaphore(std::move(info));
}

void Emitter::declareCursors() {
  for (auto &[key, ring] : rings)
    for (const Cursor &cursor : ring.cursors)
      for (unsigned i = 0; i < cursor.numRegisters; ++i) {
        unsigned number = cursor.firstRegister + i;
        builder.ring(cursor.queue, number, ring.slots(),
                     ring.op.getName().str() + (cursor.writes ? "_w" : "_r") +
                         std::to_string(i));
        if (i == 0)
          continue;
        Instruction advance = ProgramBuilder::make(Opcode::Advance);
        advance.sub[0] = number;
        advance.imm[0] = i;
        builder.add(cursor.queue, advance);
      }
}

//===----------------------------------------------------------------------===//
// Places, counters, conditions
//===----------------------------------------------------------------------===//

uint32_t Emitter::locationOf(mlir::Location location, StringRef mnemonic) {
  facet::Location result;
  if (auto named = dyn_cast<NameLoc>(location)) {
    result.op = named.getName().str();
    location = named.getChildLoc();
  }
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return 0;
  result.file = file.getFilename().str();
  result.line = file.getLine();
  result.column = file.getColumn();
  return builder.location(result);
}

/// Adds `scale` times `expr` to the form.
static void addTo(AffineForm &form, AffineExpr expr, int64_t scale,
                  ArrayRef<unsigned> depths) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    form.base += scale * constant.getValue();
  } else if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    form.coefficients[depths[dim.getPosition()]] += scale;
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    if (binary.getKind() == AffineExprKind::Add) {
      addTo(form, binary.getLHS(), scale, depths);
      addTo(form, binary.getRHS(), scale, depths);
    } else {
      addTo(form, binary.getLHS(),
            scale * cast<AffineConstantExpr>(binary.getRHS()).getValue(),
            depths);
    }
  }
}

AffineForm Emitter::formOf(AffineExpr expr, ValueRange counters, Engine queue,
                           int64_t scale) {
  SmallVector<unsigned> depths;
  for (Value counter : counters) {
    Operation *loop = cast<BlockArgument>(counter).getOwner()->getParentOp();
    depths.push_back(llvm::find(loops[unsigned(queue)], loop) -
                     loops[unsigned(queue)].begin());
  }
  AffineForm form;
  addTo(form, expr, scale, depths);
  return form;
}

uint16_t Emitter::predicateOf(IssueOp op) {
  std::optional<IntegerSet> set = op.getCondition();
  if (!set)
    return 0;
  Predicate predicate;
  for (unsigned i = 0; i < set->getNumConstraints(); ++i) {
    AffineForm form = formOf(set->getConstraint(i), op.getCounters(),
                             Engine(op.getQueue()), 1);
    predicate.forms[i] = builder.affine(form) - 1;
    predicate.compares[i] = set->isEq(i) ? Predicate::Eq : Predicate::Ge;
  }
  predicate.conditions = set->getNumConstraints();
  return builder.predicate(predicate);
}

void Emitter::setOperand(IssueOp op, unsigned tile, Instruction &instruction) {
  Value value = op.getTiles()[tile];
  auto type = cast<TileType>(value.getType());
  auto view = value.getDefiningOp<ViewOp>();
  Value root = view ? view.getSource() : value;
  int64_t bytes = dtypeBytes(*dtypeOf(type.getElementType()));

  Access access;
  access.dtype = *dtypeOf(type.getElementType());
  access.partitions = type.getRows();
  access.rank = type.getShape().size() - 1;
  SmallVector<int64_t> steps(access.rank, 1);
  for (unsigned d = access.rank; d-- > 1;)
    steps[d - 1] = steps[d] * type.getShape()[d + 1];
  AffineForm form;
  if (view) {
    steps = view.getAllSteps();
    form = formOf(view.getAt().getResult(0), view.getCounters(),
                  Engine(op.getQueue()), bytes);
    access.offset = form.base;
    form.base = 0;
    access.partition = view.getPartition();
    access.rowStep = type.getRows() == 1 ? 0 : view.getRowStep();
  }
  if (auto index = value.getDefiningOp<IndexOp>()) {
    if (auto given = index.getSteps())
      steps.assign(given->begin(), given->end());
    form = formOf(index.getAt().getResult(0), index.getCounters(),
                  Engine(op.getQueue()), 1);
    access.offset = form.base;
    form.base = 0;
    access.rowStep = type.getRows() == 1 ? 0 : index.getRowStep();
  }
  for (unsigned d = 0; d < access.rank; ++d) {
    // A dimension of one element has no step, by the rules of the file.
    access.step[d] = type.getShape()[d + 1] == 1 ? 0 : steps[d];
    access.count[d] = type.getShape()[d + 1];
  }
  if (type.getMemory() == Memory::Index) {
    access.space = Space::Index;
  } else if (type.getMemory() == Memory::Hbm) {
    access.space = Space::Hbm;
    access.buffer = buffers.lookup(root);
  } else {
    const Slot &slot = slots[root];
    access.space = type.getMemory() == Memory::Psum ? Space::Psum : Space::Sbuf;
    access.offset += slot.ring->address;
    const Cursor *cursor =
        slot.ring->cursor(Engine(op.getQueue()), slot.writes);
    if (cursor && slot.ring->slots() > 1) {
      form.ring = cursor->firstRegister + slot.position;
      form.slotStride = slot.ring->stride;
    }
  }
  if (!(form == AffineForm()))
    access.affine = builder.affine(form);
  instruction.operands[op.getSlot(tile)] = builder.access(access);
}

/// Number of `word` in a table of names, or nullopt.
template <typename Name>
static std::optional<unsigned> lookup(StringRef word, unsigned count,
                                      Name name) {
  for (unsigned i = 0; i < count; ++i)
    if (word == name(i))
      return i;
  return std::nullopt;
}

LogicalResult Emitter::setField(IssueOp op, const OpcodeInfo &info,
                                NamedAttribute field,
                                Instruction &instruction) {
  for (const FlagInfo &flag : info.flags)
    if (field.getName() == flag.name) {
      instruction.flags |= 1u << flag.bit;
      return success();
    }
  auto known = llvm::find_if(info.fields, [&](const FieldInfo &candidate) {
    return field.getName() == candidate.name;
  });
  if (auto number = dyn_cast<FloatAttr>(field.getValue())) {
    APFloat value = number.getValue();
    bool lost;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    facet::setField(instruction, known->place,
                    uint32_t(value.bitcastToAPInt().getZExtValue()));
    return success();
  }
  if (auto number = dyn_cast<IntegerAttr>(field.getValue())) {
    facet::setField(instruction, known->place, uint32_t(number.getInt()));
    return success();
  }
  StringRef word = cast<StringAttr>(field.getValue()).getValue();
  std::optional<unsigned> code;
  if (known->kind == FieldKind::Alu || known->kind == FieldKind::Compare)
    code = lookup(word, numAlus, [](unsigned i) { return aluName(Alu(i)); });
  else if (known->kind == FieldKind::Function)
    code = lookup(word, numFunctions,
                  [](unsigned i) { return functionName(Function(i)); });
  else if (known->kind == FieldKind::Pass)
    code = lookup(word, 3, [](unsigned i) {
      return i == 0 ? "all" : i == 1 ? "low" : "high";
    });
  if (!code)
    return op.emitOpError("'")
           << word << "' is no value of field '" << known->name << "'";
  facet::setField(instruction, known->place, *code);
  return success();
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

SemaphoreRef Emitter::semaphore(unsigned base, const Ring &ring,
                                const Slot &slot, Engine queue) {
  const Cursor *cursor = ring.cursor(queue, slot.writes);
  return SemaphoreRef::get(
      base, cursor ? int(cursor->firstRegister + slot.position) : -1);
}

/// What `agent` waits for before it uses the slot for the first time.
SmallVector<Wait> Emitter::waitsOf(Slot &slot, Agent agent) {
  SmallVector<Wait> waits;
  if (llvm::is_contained(slot.waited, agent))
    return waits;
  slot.waited.push_back(agent);
  Ring &ring = *slot.ring;
  auto add = [&](unsigned base, int64_t first, int64_t perRound) {
    Wait wait;
    wait.ref = semaphore(base, ring, slot, agent.queue);
    wait.value = first;
    wait.perRound = wait.ref.ring() < 0 ? 0 : perRound;
    waits.push_back(wait);
  };
  if (!slot.writes) {
    if (ring.full && !ring.inOrder(agent))
      add(*ring.full, ring.perRound, ring.perRound);
  } else if (ring.rounds > ring.slots()) {
    for (const Reader &reader : ring.readers)
      if (reader.free)
        add(*reader.free, 0, reader.perRound);
  }
  return waits;
}

void Emitter::open(Operation &op, bool writes) {
  Value key = op.getOperand(0), root = op.getResult(0);
  SmallVector<Value> &others = openSlots[writes][key];
  unsigned &since = opened[writes][key];
  since = others.empty() ? 1 : since + 1;
  others.push_back(root);
  Slot &slot = slots[root];
  slot = Slot();
  slot.ring = &rings[key];
  slot.writes = writes;
  slot.position = since - 1;
  slot.block = op.getBlock();
}

/// Puts an update on an instruction that was emitted, or on a nop.
void Emitter::addUpdate(Engine queue, int64_t pc, Update update,
                        mlir::Location location) {
  if (pc >= 0) {
    Instruction &instruction = builder.get().queue(queue).code[pc];
    for (Update &place : instruction.updates)
      if (!place.ref.present()) {
        place = update;
        return;
      }
  }
  Instruction nop = ProgramBuilder::make(Opcode::Nop);
  nop.updates[0] = update;
  builder.add(queue, nop, locationOf(location, "nop"));
}

void Emitter::close(Operation &op, bool writes) {
  Value key = op.getOperand(0);
  Ring &ring = rings[key];
  SmallVector<Value> &others = openSlots[writes][key];
  Slot &slot = slots[others.front()];
  auto give = [&](Agent agent, std::optional<unsigned> base, int64_t perRound) {
    if (!base)
      return;
    Update update{semaphore(*base, ring, slot, agent.queue), 1};
    unsigned queue = unsigned(agent.queue);
    if (!agent.transfers) {
      auto at = slot.last.find(queue);
      addUpdate(agent.queue, at == slot.last.end() ? -1 : at->second, update,
                op.getLoc());
      return;
    }
    // Transfers have counted themselves; a slot that took fewer of them than
    // others counts up to the same number.
    int64_t missing =
        perRound - slot.transfers.lookup(queue) * machine.dma.engines;
    if (missing) {
      update.amount = missing;
      addUpdate(agent.queue, -1, update, op.getLoc());
    }
  };
  if (writes) {
    filled[key] += times;
    if (ring.writer)
      give(*ring.writer, ring.full, ring.perRound);
  } else {
    for (const Reader &reader : ring.readers)
      give(reader.agent, reader.free, reader.perRound);
  }
  slots.erase(others.front());
  others.erase(others.begin());
  if (!others.empty())
    return;
  for (const Cursor &cursor : ring.cursors) {
    if (cursor.writes != writes)
      continue;
    for (unsigned i = 0; i < cursor.numRegisters; ++i) {
      Instruction advance = ProgramBuilder::make(Opcode::Advance);
      advance.sub[0] = cursor.firstRegister + i;
      advance.imm[0] = opened[writes][key];
      builder.add(cursor.queue, advance, locationOf(op.getLoc(), "advance"));
    }
  }
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitIssue(IssueOp op) {
  const OpcodeInfo &info = *opcodeByMnemonic(op.getMnemonic());
  Engine queue = Engine(op.getQueue());
  Agent agent = agentOf(op);
  Instruction instruction = ProgramBuilder::make(info.opcode);
  for (NamedAttribute field : op.getFields().getValue())
    if (failed(setField(op, info, field, instruction)))
      return failure();

  SmallVector<Wait> waits;
  SmallVector<Update> updates;
  SmallVector<Slot *> touched;
  for (auto [i, tile] : llvm::enumerate(op.getTiles())) {
    auto view = tile.getDefiningOp<ViewOp>();
    Value root = view ? view.getSource() : tile;
    auto at = slots.find(root);
    Memory memory = cast<TileType>(root.getType()).getMemory();
    bool onChip = memory == Memory::Sbuf || memory == Memory::Psum;
    if (onChip && at == slots.end())
      return op.emitOpError("uses a slot after it was closed");
    setOperand(op, i, instruction);
    if (!onChip)
      continue;
    Slot &slot = at->second;
    if (llvm::is_contained(touched, &slot))
      continue;
    touched.push_back(&slot);
    waits.append(waitsOf(slot, agent));
    if (!agent.transfers)
      continue;
    const Ring &ring = *slot.ring;
    std::optional<unsigned> base = ring.full;
    if (!slot.writes)
      base = llvm::find_if(ring.readers, [&](const Reader &reader) {
               return reader.agent == agent;
             })->free;
    if (base)
      updates.push_back({semaphore(*base, ring, slot, queue), 1});
    slot.transfers[unsigned(queue)] += tripsWithin(op, slot.block);
  }

  bool conditional = op.getCondition().has_value();
  instruction.predicate = predicateOf(op);
  uint32_t location = locationOf(op.getLoc(), op.getMnemonic());
  // An instruction under a condition must not be the one that waits for others.
  size_t room = conditional ? 0 : 2, next = 0;
  while (waits.size() - next > room) {
    Instruction nop = ProgramBuilder::make(Opcode::Nop);
    for (unsigned i = 0; i < 2 && next < waits.size(); ++i)
      nop.waits[i] = waits[next++];
    builder.add(queue, nop, location);
  }
  for (unsigned i = 0; next < waits.size(); ++i)
    instruction.waits[i] = waits[next++];
  if (updates.size() > 2)
    return op.emitOpError("touches more rings than an instruction can update");
  for (auto [i, update] : llvm::enumerate(updates))
    instruction.updates[i] = update;
  uint32_t pc = builder.add(queue, instruction, location);
  for (Slot *slot : touched)
    if (!agent.transfers)
      slot->last[unsigned(queue)] =
          op->getBlock() == slot->block && !conditional ? int64_t(pc) : -1;
  return success();
}

void Emitter::collectQueues(Block &block, llvm::SmallSet<unsigned, 8> &queues) {
  for (Operation &op : block) {
    if (auto issue = dyn_cast<IssueOp>(op))
      queues.insert(unsigned(issue.getQueue()));
    else if (auto loop = dyn_cast<ForOp>(op))
      collectQueues(*loop.getBody(), queues);
    else if (isa<AcquireOp, CommitOp>(op)) {
      if (const Ring &ring = rings[op.getOperand(0)]; ring.writer)
        queues.insert(unsigned(ring.writer->queue));
    } else if (isa<WaitOp, ReleaseOp>(op)) {
      for (const Reader &reader : rings[op.getOperand(0)].readers)
        queues.insert(unsigned(reader.agent.queue));
    }
  }
}

LogicalResult Emitter::emitLoop(ForOp loop) {
  llvm::SmallSet<unsigned, 8> queues;
  collectQueues(*loop.getBody(), queues);
  if (loop.getTrips() > UINT32_MAX)
    return loop.emitOpError("runs more often than a loop can count");
  for (unsigned queue : queues) {
    if (loops[queue].size() == maxLoops)
      return loop.emitOpError("is nested deeper than ")
             << maxLoops << " loops on " << engineName(Engine(queue));
    loops[queue].push_back(loop);
    builder.loop(Engine(queue), loop.getTrips(),
                 locationOf(loop.getLoc(), "loop"));
  }
  times *= int64_t(loop.getTrips());
  LogicalResult result = emitBlock(*loop.getBody());
  times /= int64_t(loop.getTrips());
  for (unsigned queue : queues) {
    loops[queue].pop_back();
    builder.end(Engine(queue));
  }
  return result;
}

/// Transfers out of rings end, then every queue waits for every other.
void Emitter::emitBarrier(Operation &op) {
  uint32_t location = locationOf(op.getLoc(), "barrier");
  for (auto &[key, ring] : rings)
    for (const Reader &reader : ring.readers) {
      if (!reader.agent.transfers || ring.lastStage != stage)
        continue;
      for (int64_t slot = 0; slot < ring.slots(); ++slot) {
        Instruction nop = ProgramBuilder::make(Opcode::Nop);
        nop.waits[0].ref = SemaphoreRef::get(*reader.free + slot);
        nop.waits[0].value = reader.perRound * ring.fillsOf(slot, filled[key]);
        builder.add(reader.agent.queue, nop, location);
      }
    }
  ++stage;
  SmallVector<Engine> queues;
  for (const Queue &queue : builder.get().queues)
    queues.push_back(queue.engine);
  barrierValue += queues.size();
  for (Engine queue : queues) {
    Instruction drain = ProgramBuilder::make(Opcode::Drain);
    drain.updates[0] = {SemaphoreRef::get(barrier), 1};
    builder.add(queue, drain, location);
  }
  for (unsigned queue = 0; queue < numEngines; ++queue) {
    Instruction nop = ProgramBuilder::make(Opcode::Nop);
    nop.waits[0].ref = SemaphoreRef::get(barrier);
    nop.waits[0].value = barrierValue;
    builder.add(Engine(queue), nop, location);
  }
}

LogicalResult Emitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    if (isa<AcquireOp, WaitOp>(op))
      open(op, isa<AcquireOp>(op));
    else if (isa<CommitOp, ReleaseOp>(op))
      close(op, isa<CommitOp>(op));
    else if (isa<BarrierOp>(op))
      emitBarrier(op);
    else if (auto loop = dyn_cast<ForOp>(op)) {
      if (failed(emitLoop(loop)))
        return failure();
    } else if (auto issue = dyn_cast<IssueOp>(op)) {
      if (failed(emitIssue(issue)))
        return failure();
    }
  }
  return success();
}

FailureOr<Program> Emitter::run() {
  unsigned numSemaphores = 0;
  bool barriers = !program.getBody()->getOps<BarrierOp>().empty();
  if (barriers)
    barrier = numSemaphores++;
  FailureOr<Rings> analysed = analyseRings(program, machine, numSemaphores);
  if (failed(analysed))
    return failure();
  rings = std::move(*analysed);
  if (failed(placeRings(rings, machine)) || failed(declareBuffers()))
    return failure();
  declareSemaphores(numSemaphores);
  declareCursors();
  builder.note("kernel", program.getSymName().str());
  if (failed(emitBlock(*program.getBody())))
    return failure();
  Program result = builder.finish();
  if (barriers) {
    result.semaphores[barrier].name = "barrier";
    result.semaphores[barrier].final = int32_t(barrierValue);
  }
  return result;
}

FailureOr<Program> facet::emitEngine(ProgramOp program,
                                     const Machine &machine) {
  if (!machine.isEngine())
    return program.emitOpError("is for machine '")
           << machine.name << "', which is no matrix engine";
  return Emitter(program, machine).run();
}
