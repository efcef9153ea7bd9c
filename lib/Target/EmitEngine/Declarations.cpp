//===- Declarations.cpp - tables of a program -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers, semaphores and ring registers, each with a name that messages and pages
// can show:
//
//   ring "xs", 2 slots      .buffer xs scratch sbuf …
//   its full, free rows     .semaphore full_xs0, full_xs1, free_xs0_vector, …
//   its two sides           .ring sync.r0 depth=2 xs_w0
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

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

/// A semaphore or register that serves several rings is named by its number.
static void nameOnce(std::string &name, const std::string &use,
                     const Twine &shared) {
  name = name.empty() ? use : shared.str();
}

void Emitter::declareSemaphores(unsigned count) {
  std::vector<SemaphoreInfo> infos(count);
  for (auto &entry : rings) {
    const Ring &ring = entry.second;
    std::string name = RingOp(ring.op).getName().str();
    auto declare = [&](const Row &row, int64_t perRound, StringRef use,
                       StringRef reader) {
      for (int64_t slot = 0; slot < ring.slots(); ++slot) {
        SemaphoreInfo &info = infos[row.first + slot];
        nameOnce(info.name, (use + name + Twine(slot) + reader).str(),
                 "shared" + Twine(row.first + slot));
        int64_t final = row.base + perRound * ring.fillsOf(slot, ring.rounds);
        info.final = std::max(std::max(info.final, 0), int32_t(final));
      }
    };
    if (ring.full)
      declare(*ring.full, ring.perRound, "full_", "");
    for (const Reader &reader : ring.readers)
      if (reader.free)
        declare(*reader.free, reader.perRound, "free_",
                (Twine("_") + engineName(reader.agent.queue) +
                 (reader.agent.transfers ? "_dma" : ""))
                    .str());
  }
  for (SemaphoreInfo &info : infos)
    builder.semaphore(std::move(info));
}

void Emitter::declareCursors() {
  struct Use {
    uint32_t depth = 0;
    std::string name;
  };
  Use uses[numEngines][numRings];
  for (auto &[key, ring] : rings)
    for (const Cursor &cursor : ring.cursors)
      for (auto [i, own] : llvm::enumerate(cursor.registers)) {
        Use &use = uses[unsigned(cursor.queue)][own.number];
        use.depth = ring.slots();
        nameOnce(use.name,
                 (ring.op.getName() + (cursor.writes ? "_w" : "_r") + Twine(i))
                     .str(),
                 "shared" + Twine(own.number));
      }
  for (unsigned queue = 0; queue < numEngines; ++queue)
    for (unsigned number = 0; number < numRings; ++number)
      if (Use &use = uses[queue][number]; use.depth)
        builder.ring(Engine(queue), number, use.depth, use.name);
}
