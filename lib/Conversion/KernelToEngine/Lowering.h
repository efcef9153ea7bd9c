//===- Lowering.h - what the stages of a program share --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_LIB_CONVERSION_KERNELTOENGINE_LOWERING_H
#define FACET_LIB_CONVERSION_KERNELTOENGINE_LOWERING_H

#include "facet/Conversion/KernelToEngine.h"
#include "mlir/IR/Builders.h"

namespace facet::engine {

/// A sum of loop counters times numbers.
struct Linear {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>, 4> terms;

  Linear(int64_t constant = 0) : constant(constant) {}
  Linear &operator+=(const Linear &other);
  Linear operator*(int64_t factor) const;
  friend Linear operator+(Linear a, const Linear &b) { return a += b; }
};

/// A part of an iterator's values: `size` of them from `start` on.
struct Span {
  Linear start;
  int64_t size = 1;
};

/// Where an element of a tensor lies in its buffer, by the values of iterators:
/// constant + Σ strides[i]·iterator i.
struct Home {
  mlir::Value buffer;
  mlir::Type elementType;
  int64_t constant = 0;
  llvm::SmallVector<int64_t> strides;
  bool operator==(const Home &other) const {
    return buffer == other.buffer && constant == other.constant &&
           strides == other.strides;
  }
};

/// The program being made, and where the kernel's tensors are.
class Lowering {
public:
  Lowering(kernel::FuncOp kernel, ProgramOp program, const Machine &machine)
      : kernel(kernel), program(program), machine(machine),
        builder(program.getContext()), location(kernel.getLoc()) {
    builder.setInsertionPointToEnd(program.getBody());
  }

  kernel::FuncOp kernel;
  ProgramOp program;
  const Machine &machine;
  mlir::OpBuilder builder;
  /// Of the statement being lowered, for the ops made.
  mlir::Location location;

  // Tensors.

  /// The number a size is fixed to, or failure with an error.
  llvm::FailureOr<int64_t> sizeOf(llvm::StringRef name);
  /// The number an extent is, or failure with an error: its size is not fixed.
  llvm::FailureOr<int64_t> extentOf(mlir::OpFoldResult extent);
  llvm::FailureOr<llvm::SmallVector<int64_t>>
  extentsOf(kernel::StructuredOpInterface op);
  /// Declares a buffer for `tensor`, of `shape`. One without elements has none. An
  /// i64 that the caller sees is two i32, in a dimension of their own.
  void declare(mlir::Value tensor, llvm::StringRef name, BufferUse use,
               llvm::ArrayRef<int64_t> shape);
  /// A buffer; nothing for one without elements.
  mlir::Value buffer(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                     mlir::Type element, BufferUse use);
  /// A buffer of this program's own; nothing for one without elements.
  mlir::Value scratch(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                      mlir::Type element);
  /// Says that the elements of `tensor` lie in `buffer`.
  void place(mlir::Value tensor, mlir::Value buffer) {
    buffers[tensor] = buffer;
  }
  void alias(mlir::Value tensor, mlir::Value home) {
    buffers[tensor] = buffers[home];
  }
  bool hasBuffer(mlir::Value tensor) const { return buffers.contains(tensor); }
  /// Its buffer holds i64 as pairs of i32.
  bool isPairs(mlir::Value tensor) const { return pairs.contains(tensor); }
  mlir::Value bufferOf(mlir::Value tensor) const {
    return buffers.lookup(tensor);
  }
  /// Where input `input` of `op` is, by the op's iterators; failure with an error
  /// for a gather.
  llvm::FailureOr<Home> homeOf(kernel::StructuredOpInterface op,
                               unsigned input);
  /// Says where homeOf finds an input that is read through an index.
  void layOut(kernel::StructuredOpInterface op, unsigned input, Home home) {
    laidOut[{op.getOperation(), input}] = std::move(home);
  }
  /// Whether the DMA makes row numbers of such elements.
  static bool isIndexType(mlir::Type type) {
    return llvm::isa<mlir::IntegerType>(type) &&
           type.getIntOrFloatBitWidth() <= 32;
  }
  /// Where result `result` of `op` is: one dimension per parallel iterator.
  Home homeOfResult(kernel::StructuredOpInterface op, unsigned result = 0);

  // Ops.

  TileType tileType(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                    Memory memory) {
    return TileType::get(program.getContext(), shape, element, memory);
  }
  /// A ring at the start of the program; the name is made unique.
  RingOp ring(llvm::StringRef name, int64_t depth, TileType tile);
  mlir::Value acquire(RingOp ring);
  void commit(RingOp ring);
  mlir::Value wait(RingOp ring);
  void release(RingOp ring);
  /// Part of a slot: rows `partition` on, elements from `at` on.
  mlir::Value view(mlir::Value slot, Linear at, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<int64_t> steps = {}, int64_t partition = 0);
  /// Part of a buffer.
  mlir::Value hbmView(mlir::Value buffer, Linear at,
                      llvm::ArrayRef<int64_t> shape, int64_t rowStep,
                      llvm::ArrayRef<int64_t> steps);
  /// The numbers at + r·rowStep + i·step.
  mlir::Value index(Linear at, llvm::ArrayRef<int64_t> shape, int64_t rowStep,
                    int64_t step);
  IssueOp
  issue(QueueKind queue, llvm::StringRef mnemonic,
        llvm::ArrayRef<std::pair<llvm::StringRef, mlir::Value>> operands,
        llvm::ArrayRef<mlir::NamedAttribute> fields = {});
  /// dst = src, converted, on vector or scalar.
  void copy(QueueKind queue, mlir::Value dst, mlir::Value src,
            bool saturate = false);
  mlir::NamedAttribute flag(llvm::StringRef name) {
    return builder.getNamedAttr(name, builder.getUnitAttr());
  }
  mlir::NamedAttribute word(llvm::StringRef name, llvm::StringRef value) {
    return builder.getNamedAttr(name, builder.getStringAttr(value));
  }
  mlir::NamedAttribute number(llvm::StringRef name, double value) {
    return builder.getNamedAttr(name, builder.getF32FloatAttr(float(value)));
  }

  /// Calls `body` for tiles of `tile` of an extent: once in a loop for whole ones,
  /// once more for what is left.
  void forTiles(int64_t extent, int64_t tile,
                llvm::function_ref<void(Span)> body);

private:
  mlir::AffineMap mapOf(const Linear &at,
                        llvm::SmallVectorImpl<mlir::Value> &counters);
  mlir::Value makeView(mlir::Value source, const Linear &at,
                       llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> steps, int64_t partition,
                       int64_t rowStep);
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, Home> laidOut;
  llvm::DenseSet<mlir::Value> pairs;
  llvm::StringMap<unsigned> names;
};

} // namespace facet::engine

#endif // FACET_LIB_CONVERSION_KERNELTOENGINE_LOWERING_H
