//===- BlockedGemm.cpp - a blocked matmul as a looped program -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Five queues walk the same nest of blocks, each at its own pace; rings of slots
// with one semaphore per slot are all that ties them together:
//
//   sync     for each block of lhsT:       load            free -> full
//   gpsimd   for each block of rhs:        load            free -> full
//   tensor     for m, n tiles:  for k: weights, matmul     full -> free
//   vector     for m, n tiles:  psum -> sbuf               summed -> bank free
//   scalar     for m, n tiles:  store                      evicted -> out free
//
// An operand is loaded in the innermost loop that one of its axes belongs to: with
// the order NMK both change in every iteration, with KNM rhs stays for all of M. Or
// it is loaded for all K blocks at once further out: with NMK, rhs for all of M.
// Whatever moves fewest bytes and fits into SBUF is done.
//
// Sums of one tile over the K blocks: with one K block each tile takes the next
// bank of PSUM. When K is the innermost loop and all tiles of a block fit in the
// banks, each keeps its bank over all K blocks. Otherwise each K block's sums are
// added to f32 tiles in SBUF that only the vector engine touches.
//
//===----------------------------------------------------------------------===//

#include "BlockedGemm.h"

#include "facet/Isa/Builder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace facet;
using namespace facet::bench;

namespace {

enum Axis { M, N, K };

/// A row of semaphores, one per slot of a ring.
struct Slots {
  unsigned first = 0;
  SemaphoreRef at(int ring) const { return SemaphoreRef::get(first, ring); }
};

/// An operand on its way through SBUF.
struct Operand {
  const char *name = "";
  Axis axis = M;       // beside K
  uint32_t buffer = 0; // in HBM
  int64_t size = 0;    // elements of a row in HBM
  int64_t columns = 0; // of a slot
  /// A slot holds all K blocks, not one.
  bool wholeK = false;
  uint32_t depth = 2;     // slots
  int64_t base = 0;       // in SBUF
  int64_t slotBytes = 0;  //
  int64_t pieceBytes = 0; // of one K block
  int64_t chunk = 1;      // K tiles one transfer brings
  unsigned level = 0;     // loop whose body loads it
  /// One K block to a slot: a row of semaphores for each chunk. All of them: one
  /// row, with a semaphore for each K block of each slot.
  std::vector<Slots> full;
  Slots free;
};

class Writer {
public:
  Writer(const Machine &machine, const GemmPlan &plan)
      : machine(machine), plan(plan), builder(machine) {}

  llvm::Error layOut();
  Program write();

private:
  llvm::Error shape();
  void place(Operand &operand, bool wholeK) const;
  int64_t traffic(const Operand &operand) const;
  llvm::Error chooseLoads();
  void declare(Operand &operand);
  Slots slots(llvm::StringRef name, uint32_t count);
  int64_t reserve(int64_t bytes);

  // Nests. A queue may leave axes out; `at` says at which depth each one is.
  struct Nest {
    Engine engine;
    int at[3] = {-1, -1, -1}; // block loops
    int tileM = -1, tileN = -1;
  };
  void open(Nest &nest, Axis axis);
  void openTiles(Nest &nest);
  void close(Nest &nest, unsigned loops);

  void load(Nest nest, const Operand &operand, int ring);
  void arrive(const Nest &nest, const Operand &operand, int ring);
  void writeLoads(Engine engine, const Operand &operand, int ring);
  void writeTensor();
  void writeProducts(const Nest &nest);
  void writeVector();
  void writeScalar();
  void rings(Engine engine, const Operand &operand, int ring);
  void release(Engine engine, const Operand &operand, int ring);
  void advance(Engine engine, int ring, uint16_t predicate = 0);

  uint32_t form(std::initializer_list<std::pair<int, int64_t>> terms,
                int ring = -1, int64_t stride = 0);
  struct Condition {
    Axis axis;
    Predicate::Compare compare;
    int64_t number;
  };
  uint16_t when(const Nest &nest, llvm::ArrayRef<Condition> conditions);
  Access onChip(Space space, DType type, int64_t partitions, int64_t offset,
                int64_t elements, uint32_t affine) const;
  static Wait wait(SemaphoreRef ref, int64_t value, int64_t perRound) {
    return {ref, int16_t(perRound), int32_t(value)};
  }

  const Machine &machine;
  const GemmPlan &plan;
  ProgramBuilder builder;

  int64_t tile[3], tiles[3], block[3], blocks[3];
  Axis order[3];
  unsigned levelOf[3];
  bool resident = false;    // sums stay in PSUM over all K blocks
  bool accumulates = false; // sums of K blocks are added in SBUF
  uint32_t banks = 1;       // slots of the ring of PSUM tiles
  int64_t sbufUsed = 0;
  int64_t accBase = 0, outBase = 0, outBytes = 0;
  uint32_t result = 0;
  Operand lhs, rhs;
  Slots summed, bankFree, evicted, outFree;
};

// Ring registers; each queue has its own. With a slot of all K blocks goes a ring
// of their semaphores.
enum { lhsRing, rhsRing, bankRing, outRing, lhsPieces, rhsPieces };
static int piecesOf(int ring) {
  return ring == lhsRing ? lhsPieces : rhsPieces;
}

} // namespace

//===----------------------------------------------------------------------===//
// Sizes, memory, semaphores
//===----------------------------------------------------------------------===//

llvm::Error Writer::shape() {
  const int64_t sizes[3] = {plan.m, plan.n, plan.k};
  const int64_t most[3] = {
      machine.tensor.columns,
      std::min<int64_t>(machine.tensor.movingMax, machine.psum.bankBytes / 4),
      machine.tensor.rows};
  const int64_t perBlock[3] = {plan.tilesM, plan.tilesN, plan.tilesK};
  std::string sorted = plan.order;
  llvm::sort(sorted);
  if (sorted != "KMN")
    return llvm::createStringError("the block order '" + plan.order +
                                   "' is no permutation of MNK");
  for (unsigned level = 0; level != 3; ++level) {
    order[level] = Axis(llvm::StringRef("MNK").find(plan.order[level]));
    levelOf[order[level]] = level;
  }
  for (Axis axis : {M, N, K}) {
    tile[axis] = std::min(most[axis], sizes[axis]);
    tiles[axis] = perBlock[axis];
    block[axis] = tile[axis] * tiles[axis];
    if (sizes[axis] < 1 || tiles[axis] < 1 || sizes[axis] % block[axis])
      return llvm::createStringError(
          llvm::formatv("axis {0} of {1} is no multiple of its block, {2} "
                        "tiles of {3}",
                        "MNK"[axis], sizes[axis], tiles[axis], tile[axis])
              .str());
    blocks[axis] = sizes[axis] / block[axis];
  }
  if (tile[K] % machine.core.partitionGroup || tile[M] % 32)
    return llvm::createStringError(
        "tiles of {0} by {1} do not start at partitions the engine can reach",
        tile[K], tile[M]);
  return llvm::Error::success();
}

int64_t Writer::reserve(int64_t bytes) {
  int64_t at = sbufUsed;
  sbufUsed += int64_t(llvm::alignTo(uint64_t(bytes), 64));
  return at;
}

Slots Writer::slots(llvm::StringRef name, uint32_t count) {
  Slots row;
  for (uint32_t slot = 0; slot != count; ++slot) {
    unsigned number =
        builder.semaphore({(name + llvm::Twine(slot)).str(), 0, -1});
    row.first = slot ? row.first : number;
  }
  return row;
}

/// Where an operand is loaded, how much a slot holds, and how it is cut: one
/// transfer brings as many K tiles as give each partition 4 KiB, where transfers
/// are at their full rate.
void Writer::place(Operand &operand, bool wholeK) const {
  int64_t bytes = dtypeBytes(plan.type);
  operand.wholeK = wholeK;
  // A loop of one block may as well be further in.
  operand.level = blocks[operand.axis] > 1 ? levelOf[operand.axis] : 0;
  if (blocks[K] > 1 && !wholeK)
    operand.level = std::max(operand.level, levelOf[K]);
  operand.pieceBytes = tiles[K] * operand.columns * bytes;
  operand.slotBytes = operand.pieceBytes * (wholeK ? blocks[K] : 1);
  operand.chunk = 1;
  while (operand.chunk < tiles[K] &&
         (tiles[K] % operand.chunk ||
          operand.chunk * operand.columns * bytes < 4096))
    ++operand.chunk;
}

/// Bytes per partition that come in over the whole run.
int64_t Writer::traffic(const Operand &operand) const {
  int64_t slots = plan.lhsByTile && operand.axis == M ? tiles[M] : 1;
  for (unsigned level = 0; level <= operand.level; ++level)
    slots *= blocks[order[level]];
  return slots * operand.slotBytes;
}

/// Of all ways that fit, the one with the least traffic. Slots are as many as hold
/// 32 KiB of each partition, or less if that does not fit: short ones are used up
/// fast, and a load takes more than two microseconds whatever its size.
llvm::Error Writer::chooseLoads() {
  Operand bestLhs, bestRhs;
  int64_t least = INT64_MAX, smallest = INT64_MAX;
  auto tryOne = [&](bool lhsWhole, bool rhsWhole, int64_t budget) {
    for (auto [operand, whole] :
         {std::pair(&lhs, lhsWhole), {&rhs, rhsWhole}}) {
      if (whole && (blocks[K] == 1 || levelOf[operand->axis] > levelOf[K] ||
                    (plan.lhsByTile && operand->axis == M)))
        return;
      place(*operand, whole);
      operand->depth =
          uint32_t(std::clamp<int64_t>(budget / operand->slotBytes, 2, 8));
    }
    int64_t needed =
        sbufUsed + lhs.slotBytes * lhs.depth + rhs.slotBytes * rhs.depth + 128;
    smallest = std::min(smallest, needed);
    int64_t bytes = traffic(lhs) + traffic(rhs);
    if (needed > machine.sbuf.partitionBytes || bytes >= least)
      return;
    least = bytes;
    bestLhs = lhs, bestRhs = rhs;
  };
  for (bool lhsWhole : {false, true})
    for (bool rhsWhole : {false, true})
      for (int64_t budget : {32768, 16384, 0})
        tryOne(lhsWhole, rhsWhole, budget);
  if (least == INT64_MAX)
    return llvm::createStringError(
        llvm::formatv("the blocks take {0} bytes of a partition of SBUF, which "
                      "has {1}",
                      smallest, machine.sbuf.partitionBytes)
            .str());
  lhs = bestLhs, rhs = bestRhs;
  return llvm::Error::success();
}

/// Room and semaphores for an operand.
void Writer::declare(Operand &operand) {
  operand.base = reserve(operand.slotBytes * operand.depth);
  if (operand.wholeK)
    operand.full.push_back(slots(llvm::formatv("{0}_full", operand.name).str(),
                                 operand.depth * uint32_t(blocks[K])));
  else
    for (int64_t c = 0; c != tiles[K] / operand.chunk; ++c)
      operand.full.push_back(slots(
          llvm::formatv("{0}_full{1}_", operand.name, c).str(), operand.depth));
  operand.free =
      slots(llvm::formatv("{0}_free", operand.name).str(), operand.depth);
}

llvm::Error Writer::layOut() {
  if (llvm::Error error = shape())
    return error;
  int64_t perBlock = tiles[M] * tiles[N];
  resident = blocks[K] > 1 && order[2] == K && perBlock <= machine.psum.banks;
  accumulates = blocks[K] > 1 && !resident;
  banks = resident ? uint32_t(perBlock) : uint32_t(machine.psum.banks);

  uint64_t address = 0;
  auto hbm = [&](const char *name, BufferKind kind, DType type, int64_t rows,
                 int64_t columns) {
    Buffer b;
    b.name = name;
    b.kind = kind;
    b.dtype = type;
    b.address = address;
    b.bytes = uint64_t(rows * columns) * dtypeBytes(type);
    b.shape = {rows, columns};
    b.strides = {columns, 1};
    address = llvm::alignTo(address + b.bytes, 4096);
    return builder.buffer(std::move(b));
  };
  lhs.buffer = hbm("lhsT", BufferKind::In, plan.type, plan.k, plan.m);
  rhs.buffer = hbm("rhs", BufferKind::In, plan.type, plan.k, plan.n);
  result = hbm("c", BufferKind::Out, plan.result, plan.m, plan.n);

  outBytes = tile[N] * dtypeBytes(plan.result);
  outBase = reserve(outBytes * plan.outDepth);
  if (accumulates) {
    // Tiles whose K loop is open at the same time.
    int64_t open = perBlock;
    for (Axis axis : {M, N})
      open *= levelOf[axis] > levelOf[K] ? blocks[axis] : 1;
    accBase = reserve(open * tile[N] * 4);
  }
  lhs.name = "lhs", lhs.axis = M, lhs.size = plan.m;
  lhs.columns = plan.lhsByTile ? tile[M] : block[M];
  rhs.name = "rhs", rhs.axis = N, rhs.size = plan.n;
  rhs.columns = block[N];
  if (llvm::Error error = chooseLoads())
    return error;
  declare(lhs);
  declare(rhs);
  summed = slots("summed", banks);
  bankFree = slots("bank_free", banks);
  evicted = slots("evicted", plan.outDepth);
  outFree = slots("out_free", plan.outDepth);
  if (int64_t(builder.get().semaphores.size()) > machine.semaphore.count)
    return llvm::createStringError(
        llvm::formatv("the blocks take {0} semaphores, {1} has {2}",
                      builder.get().semaphores.size(), machine.name,
                      machine.semaphore.count)
            .str());
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

uint32_t Writer::form(std::initializer_list<std::pair<int, int64_t>> terms,
                      int ring, int64_t stride) {
  AffineForm form;
  bool constant = true;
  for (auto [depth, coefficient] : terms)
    if (depth >= 0 && coefficient) {
      form.coefficients[depth] = coefficient;
      constant = false;
    }
  if (ring >= 0) {
    form.ring = ring;
    form.slotStride = stride;
    constant = false;
  }
  return constant ? 0 : builder.affine(form);
}

/// Conditions on the numbers of blocks: {K, Eq, 0} says it is the first of K.
uint16_t Writer::when(const Nest &nest, llvm::ArrayRef<Condition> conditions) {
  Predicate predicate;
  for (const Condition &c : conditions) {
    AffineForm form;
    form.base = -c.number;
    form.coefficients[nest.at[c.axis]] = 1;
    predicate.forms[predicate.conditions] = builder.affine(form) - 1;
    predicate.compares[predicate.conditions++] = c.compare;
  }
  return builder.predicate(predicate);
}

Access Writer::onChip(Space space, DType type, int64_t partitions,
                      int64_t offset, int64_t elements, uint32_t affine) const {
  Access access;
  access.space = space;
  access.dtype = type;
  access.partitions = uint32_t(partitions);
  access.offset = offset;
  access.affine = affine;
  access.rank = 1;
  access.count[0] = uint32_t(elements);
  access.step[0] = 1;
  return access;
}

void Writer::open(Nest &nest, Axis axis) {
  nest.at[axis] = int(builder.depth(nest.engine));
  builder.loop(nest.engine, uint32_t(blocks[axis]));
}

void Writer::openTiles(Nest &nest) {
  nest.tileM = int(builder.depth(nest.engine));
  builder.loop(nest.engine, uint32_t(tiles[M]));
  nest.tileN = int(builder.depth(nest.engine));
  builder.loop(nest.engine, uint32_t(tiles[N]));
}

void Writer::close(Nest &nest, unsigned loops) {
  while (loops--)
    builder.end(nest.engine);
}

void Writer::advance(Engine engine, int ring, uint16_t predicate) {
  Instruction step = ProgramBuilder::make(Opcode::Advance);
  step.sub[0] = uint8_t(ring);
  step.predicate = predicate;
  builder.add(engine, step);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// All chunks of one slot, or of a loop over its K blocks.
void Writer::load(Nest nest, const Operand &operand, int ring) {
  int64_t bytes = dtypeBytes(plan.type);
  if (operand.wholeK)
    open(nest, K);
  for (int64_t c = 0; c != tiles[K] / operand.chunk; ++c) {
    int64_t firstTile = c * operand.chunk;
    Instruction copy = ProgramBuilder::make(Opcode::DmaCopy);
    copy.sub[0] = uint8_t(ring);
    Access dst =
        onChip(Space::Sbuf, plan.type, tile[K],
               operand.base + firstTile * operand.columns * bytes,
               operand.chunk * operand.columns,
               form({{operand.wholeK ? nest.at[K] : -1, operand.pieceBytes}},
                    ring, operand.slotBytes));
    Access src;
    src.space = Space::Hbm;
    src.dtype = plan.type;
    src.buffer = operand.buffer;
    src.partitions = uint32_t(tile[K]);
    src.rowStep = operand.size;
    src.offset = firstTile * tile[K] * operand.size * bytes;
    int inBlock = operand.axis == M && plan.lhsByTile ? nest.tileM : -1;
    src.affine = form({{nest.at[K], block[K] * operand.size * bytes},
                       {nest.at[operand.axis], block[operand.axis] * bytes},
                       {inBlock, tile[M] * bytes}});
    auto dimension = [&](int64_t count, int64_t step) {
      src.count[src.rank] = uint32_t(count);
      src.step[src.rank++] = step;
    };
    if (operand.chunk > 1)
      dimension(operand.chunk, tile[K] * operand.size);
    dimension(operand.columns, 1);
    copy.operands[0] = builder.access(dst);
    copy.operands[1] = builder.access(src);
    // The first waits for the slot to be free, the others come after it.
    if (c == 0)
      copy.waits[0] = wait(operand.free.at(ring), 0, 1);
    copy.updates[0] = operand.wholeK
                          ? Update{operand.full[0].at(piecesOf(ring)), 1}
                          : Update{operand.full[size_t(c)].at(ring), 1};
    builder.add(nest.engine, copy);
  }
  if (operand.wholeK) {
    advance(nest.engine, piecesOf(ring));
    close(nest, 1);
  }
  advance(nest.engine, ring);
}

/// Declares the rings of an operand in a queue.
void Writer::rings(Engine engine, const Operand &operand, int ring) {
  builder.ring(engine, uint32_t(ring), operand.depth, operand.name);
  if (operand.wholeK)
    builder.ring(engine, uint32_t(piecesOf(ring)),
                 operand.depth * uint32_t(blocks[K]),
                 std::string(operand.name) + "_pieces");
}

void Writer::writeLoads(Engine engine, const Operand &operand, int ring) {
  Nest nest{engine};
  rings(engine, operand, ring);
  for (unsigned level = 0; level <= operand.level; ++level)
    open(nest, order[level]);
  if (operand.axis == M && plan.lhsByTile) {
    nest.tileM = int(builder.depth(engine));
    builder.loop(engine, uint32_t(tiles[M]));
  }
  load(nest, operand, ring);
  close(nest, builder.depth(engine));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The nop's update comes after everything before it in the queue.
void Writer::release(Engine engine, const Operand &operand, int ring) {
  Instruction nop = ProgramBuilder::make(Opcode::Nop);
  nop.updates[0] = {operand.free.at(ring), 1};
  builder.add(engine, nop);
  advance(engine, ring);
}

/// In a slot of all K blocks, each is waited for once: when the loops inside the
/// slot's own, other than K, are in their first round.
void Writer::arrive(const Nest &nest, const Operand &operand, int ring) {
  if (!operand.wholeK)
    return;
  llvm::SmallVector<Condition, 2> first;
  for (Axis axis : {M, N})
    if (levelOf[axis] > operand.level)
      first.push_back({axis, Predicate::Eq, 0});
  int64_t arrivals = machine.dma.engines * (tiles[K] / operand.chunk);
  Instruction nop = ProgramBuilder::make(Opcode::Nop);
  nop.waits[0] = wait(operand.full[0].at(piecesOf(ring)), arrivals, arrivals);
  nop.predicate = first.empty() ? 0 : when(nest, first);
  builder.add(Engine::Tensor, nop);
  advance(Engine::Tensor, piecesOf(ring), nop.predicate);
}

/// One tile of the result: all K tiles of the block, unrolled.
void Writer::writeProducts(const Nest &nest) {
  const int16_t arrivals = int16_t(machine.dma.engines);
  int64_t bytes = dtypeBytes(plan.type);
  auto fullAt = [&](const Operand &operand, int64_t k, int ring) {
    if (operand.wholeK)
      return Wait();
    return wait(operand.full[size_t(k / operand.chunk)].at(ring), arrivals,
                arrivals);
  };
  auto at = [&](const Operand &operand, int64_t k, int64_t columns, int inner,
                int64_t innerBytes, int ring) {
    return builder.access(
        onChip(Space::Sbuf, plan.type, tile[K],
               operand.base + k * operand.columns * bytes, columns,
               form({{operand.wholeK ? nest.at[K] : -1, operand.pieceBytes},
                     {inner, innerBytes}},
                    ring, operand.slotBytes)));
  };
  Access dst = onChip(Space::Psum, DType::F32, tile[M], 0, tile[N],
                      form({}, bankRing, machine.psum.bankBytes));
  for (int64_t k = 0; k != tiles[K]; ++k) {
    Instruction weights = ProgramBuilder::make(Opcode::LoadWeights);
    weights.operands[0] = at(lhs, k, tile[M], plan.lhsByTile ? -1 : nest.tileM,
                             tile[M] * bytes, lhsRing);
    weights.waits[0] = fullAt(lhs, k, lhsRing);
    builder.add(Engine::Tensor, weights);

    Instruction matmul = ProgramBuilder::make(Opcode::Matmul);
    matmul.operands[0] = builder.access(dst);
    matmul.operands[1] =
        at(rhs, k, tile[N], nest.tileN, tile[N] * bytes, rhsRing);
    matmul.waits[0] = fullAt(rhs, k, rhsRing);

    // A resident tile is started in the first K block and stopped in the last;
    // others in each.
    auto add = [&](bool start, bool stop, uint16_t predicate) {
      Instruction one = matmul;
      one.predicate = predicate;
      if (start) {
        one.flags |= flag::matmulStart;
        one.waits[one.waits[0].ref.present()] =
            wait(bankFree.at(bankRing), 0, 1);
      }
      if (stop) {
        one.flags |= flag::matmulStop;
        one.updates[0] = {summed.at(bankRing), 1};
      }
      builder.add(Engine::Tensor, one);
    };
    bool first = k == 0, last = k == tiles[K] - 1;
    int64_t lastBlock = blocks[K] - 1;
    using P = Predicate;
    if (!resident || (!first && !last)) {
      add(first, last, 0);
      continue;
    }
    if (first)
      add(true, false, when(nest, {{K, P::Eq, 0}}));
    if (first && last)
      add(false, false, when(nest, {{K, P::Ne, 0}, {K, P::Ne, lastBlock}}));
    else if (first)
      add(false, false, when(nest, {{K, P::Ne, 0}}));
    else
      add(false, false, when(nest, {{K, P::Ne, lastBlock}}));
    if (last)
      add(false, true, when(nest, {{K, P::Eq, lastBlock}}));
  }
  advance(Engine::Tensor, bankRing);
}

void Writer::writeTensor() {
  Nest nest{Engine::Tensor};
  rings(Engine::Tensor, lhs, lhsRing);
  rings(Engine::Tensor, rhs, rhsRing);
  builder.ring(Engine::Tensor, bankRing, banks, "bank");
  for (Axis axis : order)
    open(nest, axis);
  arrive(nest, lhs, lhsRing);
  arrive(nest, rhs, rhsRing);
  openTiles(nest);
  writeProducts(nest);
  close(nest, 1);
  if (plan.lhsByTile)
    release(Engine::Tensor, lhs, lhsRing);
  close(nest, 1);
  for (unsigned level = 3; level-- > 0;) {
    if (level == lhs.level && !plan.lhsByTile)
      release(Engine::Tensor, lhs, lhsRing);
    if (level == rhs.level)
      release(Engine::Tensor, rhs, rhsRing);
    close(nest, 1);
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void Writer::writeVector() {
  const int16_t arrivals = int16_t(machine.dma.engines);
  Nest nest{Engine::Vector};
  builder.ring(Engine::Vector, bankRing, banks, "bank");
  builder.ring(Engine::Vector, outRing, plan.outDepth, "out");
  for (Axis axis : order)
    if (axis != K || accumulates)
      open(nest, axis);
  openTiles(nest);

  // Where this tile's sums of earlier K blocks are: tiles of the blocks inside the
  // K loop, M before N.
  int64_t accTile = tile[N] * 4, accRow = accTile * tiles[N];
  int64_t accN = accRow * tiles[M];
  bool outerN = levelOf[N] > levelOf[K], outerM = levelOf[M] > levelOf[K];
  int64_t accM = outerN ? accN * blocks[N] : accN;
  auto acc = [&] {
    return builder.access(onChip(Space::Sbuf, DType::F32, tile[M], accBase,
                                 tile[N],
                                 form({{nest.tileN, accTile},
                                       {nest.tileM, accRow},
                                       {outerN ? nest.at[N] : -1, accN},
                                       {outerM ? nest.at[M] : -1, accM}})));
  };
  Access sums = onChip(Space::Psum, DType::F32, tile[M], 0, tile[N],
                       form({}, bankRing, machine.psum.bankBytes));
  Access out = onChip(Space::Sbuf, plan.result, tile[M], outBase, tile[N],
                      form({}, outRing, outBytes));

  auto add = [&](bool first, bool last, uint16_t predicate) {
    Instruction i =
        ProgramBuilder::make(first ? Opcode::Copy : Opcode::TensorTensor);
    i.operands[0] = last ? builder.access(out) : acc();
    i.operands[1] = builder.access(sums);
    if (!first) {
      i.sub[0] = uint8_t(Alu::Add);
      i.operands[2] = acc();
    }
    i.predicate = predicate;
    i.waits[0] = wait(summed.at(bankRing), 1, 1);
    // The ring of a resident tile counts K blocks, so its bank is free for that
    // many rounds.
    i.updates[0] = {bankFree.at(bankRing), int16_t(resident ? blocks[K] : 1)};
    if (last) {
      i.waits[1] = wait(outFree.at(outRing), 0, arrivals);
      i.updates[1] = {evicted.at(outRing), 1};
    }
    builder.add(Engine::Vector, i);
  };
  uint16_t onlyLast = 0;
  if (!accumulates) {
    add(true, true, 0);
  } else {
    int64_t lastBlock = blocks[K] - 1;
    using P = Predicate;
    onlyLast = when(nest, {{K, P::Eq, lastBlock}});
    add(true, false, when(nest, {{K, P::Eq, 0}}));
    if (blocks[K] > 2)
      add(false, false, when(nest, {{K, P::Ne, 0}, {K, P::Ne, lastBlock}}));
    add(false, true, onlyLast);
  }
  advance(Engine::Vector, bankRing);
  advance(Engine::Vector, outRing, onlyLast);
  close(nest, builder.depth(Engine::Vector));
}

void Writer::writeScalar() {
  Nest nest{Engine::Scalar};
  int64_t bytes = dtypeBytes(plan.result);
  builder.ring(Engine::Scalar, outRing, plan.outDepth, "out");
  for (Axis axis : order)
    if (axis != K)
      open(nest, axis);
  openTiles(nest);
  Instruction copy = ProgramBuilder::make(Opcode::DmaCopy);
  copy.sub[0] = outRing;
  Access dst;
  dst.space = Space::Hbm;
  dst.dtype = plan.result;
  dst.buffer = result;
  dst.partitions = uint32_t(tile[M]);
  dst.rowStep = plan.n;
  dst.affine = form({{nest.at[M], block[M] * plan.n * bytes},
                     {nest.at[N], block[N] * bytes},
                     {nest.tileM, tile[M] * plan.n * bytes},
                     {nest.tileN, tile[N] * bytes}});
  dst.rank = 1;
  dst.count[0] = uint32_t(tile[N]);
  dst.step[0] = 1;
  copy.operands[0] = builder.access(dst);
  copy.operands[1] =
      builder.access(onChip(Space::Sbuf, plan.result, tile[M], outBase, tile[N],
                            form({}, outRing, outBytes)));
  copy.waits[0] = wait(evicted.at(outRing), 1, 1);
  copy.updates[0] = {outFree.at(outRing), 1};
  builder.add(Engine::Scalar, copy);
  advance(Engine::Scalar, outRing);
  close(nest, builder.depth(Engine::Scalar));
}

Program Writer::write() {
  writeTensor();
  writeVector();
  writeScalar();
  writeLoads(Engine::Gpsimd, rhs, rhsRing);
  writeLoads(Engine::Sync, lhs, lhsRing);
  return builder.finish();
}

llvm::Expected<Program> bench::blockedGemm(const Machine &machine,
                                           const GemmPlan &plan) {
  Writer writer(machine, plan);
  if (llvm::Error error = writer.layOut())
    return error;
  return writer.write();
}
