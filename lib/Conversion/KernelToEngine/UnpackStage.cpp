//===- UnpackStage.cpp - elements of four bits get a byte each ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine has no elements of four bits. Arguments of i4 and u4 come packed, two
// in a byte, the low half first; before anything else they are spread out:
//
//   w: u4[K, N]     buffer w, u8[K, N/2]: both halves of a byte by vector, one by `and`,
//                   one by `shr`, into every other element of u8[K, N]
//
// How the bytes lie in rows and columns does not matter for that.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"

using namespace mlir;
using namespace facet;
using namespace facet::engine;

namespace {
class UnpackStage {
public:
  UnpackStage(Lowering &lowering, Value packed, Value spread)
      : lowering(lowering), packed(packed), spread(spread) {}
  void run();

private:
  void emitPiece(const Linear &start, int64_t height, int64_t width);
  void half(Value from, Value to, int64_t shift);

  Lowering &lowering;
  Value packed, spread;
  RingOp bytes, halves;
  int64_t longest = 1;
};
} // namespace

/// The half that begins at bit `shift`, with its sign where it has one.
void UnpackStage::half(Value from, Value to, int64_t shift) {
  auto type =
      cast<IntegerType>(cast<TileType>(spread.getType()).getElementType());
  auto integer = [&](StringRef name, int64_t value) {
    return lowering.builder.getNamedAttr(
        name, lowering.builder.getI32IntegerAttr(int32_t(value)));
  };
  SmallVector<NamedAttribute> fields;
  if (type.isUnsigned())
    fields = {lowering.word("op0", shift ? "shr" : "and"),
              integer("imm0", shift ? shift : 15)};
  else
    fields = {lowering.word("op0", "shl"), integer("imm0", 28 - shift),
              lowering.word("op1", "sar"), integer("imm1", 28)};
  lowering.issue(QueueKind::Vector, "tensor_scalar",
                 {{"dst", to}, {"src", from}}, fields);
}

void UnpackStage::emitPiece(const Linear &start, int64_t height,
                            int64_t width) {
  SmallVector<int64_t> shape = {height, width}, twice = {height, 2 * width};
  Value slot = lowering.view(lowering.acquire(bytes), 0, shape);
  lowering.issue(
      QueueKind::Sync, "dma_copy",
      {{"dst", slot},
       {"src", lowering.hbmView(packed, start, shape, longest, {1})}});
  lowering.commit(bytes);
  Value from = lowering.view(lowering.wait(bytes), 0, shape);
  Value to = lowering.acquire(halves);
  half(from, lowering.view(to, 0, shape, {2}), 0);
  half(from, lowering.view(to, 1, shape, {2}), 4);
  lowering.commit(halves);
  lowering.release(bytes);
  Value done = lowering.view(lowering.wait(halves), 0, twice);
  lowering.issue(
      QueueKind::Scalar, "dma_copy",
      {{"dst", lowering.hbmView(spread, start * 2, twice, 2 * longest, {1})},
       {"src", done}});
  lowering.release(halves);
}

void UnpackStage::run() {
  int64_t total = cast<TileType>(packed.getType()).getElements();
  // Long enough that fixed costs are small beside the DMA's time.
  longest = std::min<int64_t>(total, 2048);
  int64_t rows = total / longest,
          tile = std::min(rows, lowering.machine.core.partitions);
  bytes = lowering.ring(
      "bytes", 2,
      lowering.tileType({tile, longest},
                        cast<TileType>(packed.getType()).getElementType(),
                        Memory::Sbuf));
  halves = lowering.ring(
      "halves", 2,
      lowering.tileType({tile, 2 * longest},
                        cast<TileType>(spread.getType()).getElementType(),
                        Memory::Sbuf));
  lowering.forTiles(rows, tile, [&](Span span) {
    emitPiece(span.start * longest, span.size, longest);
  });
  if (total % longest)
    emitPiece(rows * longest, 1, total % longest);
}

void engine::emitUnpack(Lowering &lowering, Value packed, Value spread) {
  UnpackStage(lowering, packed, spread).run();
}
