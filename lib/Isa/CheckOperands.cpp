//===- CheckOperands.cpp - what an instruction does to memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks spaces, types, shapes, partition and bank rules, and that no access
// leaves its memory for any value of counters and rings:
//
//   dst reaches byte 2052 of psum bank 0, a matmul may write 1 bank of 2048
//   moving has 513 columns, allowed are 1 to 512
//
// Bounds of predicated instructions are left to the simulator, which knows when
// the predicate holds.
//
//===----------------------------------------------------------------------===//

#include "Checker.h"

#include <cstring>
#include <numeric>

using namespace facet;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

static bool inSet(TypeSet set, DType type) {
  unsigned bits = dtypeBits(type);
  switch (set) {
  case TypeSet::Matmul:
    return dtypeIsFloat(type) && bits <= 32;
  case TypeSet::F32Only:
    return type == DType::F32;
  case TypeSet::F32OrI32:
    return type == DType::F32 || type == DType::I32;
  case TypeSet::I32Only:
  case TypeSet::IndexOnly:
    return type == DType::I32;
  case TypeSet::Wide:
    return bits == 16 || bits == 32;
  case TypeSet::Compute:
    return bits <= 32;
  case TypeSet::Any:
    return true;
  }
  return false;
}

static std::string listTypes(TypeSet set) {
  std::string text;
  for (unsigned t = 0; t != numDTypes; ++t)
    if (inSet(set, DType(t)))
      text += (text.empty() ? "" : ", ") + std::string(dtypeName(DType(t)));
  return text;
}

static std::string listSpaces(const char *letters, bool noPsum) {
  std::string text;
  for (const char *l = letters; *l; ++l)
    for (Space s : {Space::Sbuf, Space::Psum, Space::Hbm, Space::Index})
      if (spaceName(s)[0] == (*l == 'x' ? 'i' : *l) && !(noPsum && *l == 'p'))
        text += (text.empty() ? "" : ", ") + std::string(spaceName(s));
  return text;
}

void Checker::checkOperand(const OperandInfo &o, const Access &a) {
  char letter = "sphx"[unsigned(a.space)];
  bool noPsum = queueNow().engine == Engine::Gpsimd && !current->isTransfer();
  if (!std::strchr(o.spaces, letter) || (noPsum && letter == 'p'))
    return error(Twine(o.name) + " is in " + spaceName(a.space) +
                 ", allowed are " + listSpaces(o.spaces, noPsum));
  if (!inSet(o.types, a.dtype))
    return error(Twine(o.name) + " is " + dtypeName(a.dtype) +
                 ", allowed are " + listTypes(o.types));
  checkFormUse(a.affine, o.name);
  if (o.mode != OperandMode::Read) {
    for (unsigned d = 0; d != a.rank; ++d)
      if (a.count[d] > 1 && a.step[d] == 0)
        error(Twine(o.name) + " writes an element more than once (step 0)");
    if (a.space == Space::Hbm) {
      const Buffer &b = program.buffers[a.buffer];
      if (b.kind == BufferKind::In || b.kind == BufferKind::Const ||
          b.kind == BufferKind::Data)
        error(Twine(o.name) + " writes buffer '" + b.name + "', which is " +
              bufferKindName(b.kind));
      if (a.partitions > 1 && a.rowStep == 0)
        error(Twine(o.name) + " writes a row more than once (row step 0)");
    }
  }
  // Engines reach partitions in groups; transfers see plain memory.
  bool chip = a.space == Space::Sbuf || a.space == Space::Psum;
  if (chip && !current->isTransfer()) {
    int64_t reach = machine.core.partitionGroup;
    while (reach < a.partitions)
      reach *= 2;
    if (a.partition % reach)
      error(Twine(o.name) + " has " + Twine(a.partitions) +
            " partitions from " + Twine(a.partition) +
            "; that many start at a multiple of " + Twine(reach));
  }
  checkBounds(o, a);
}

void Checker::checkBounds(const OperandInfo &o, const Access &a) {
  if (a.space == Space::Index)
    return;
  int64_t bytes = dtypeBytes(a.dtype);
  int64_t align = bytes;
  if (a.space != Space::Hbm)
    align = std::max(align, machine.sbuf.alignBytes);
  bool aligned = a.offset % align == 0;
  if (a.affine) {
    const AffineForm &form = program.affines[a.affine - 1];
    aligned &= form.base % bytes == 0 && form.slotStride % bytes == 0;
    for (int64_t c : form.coefficients)
      aligned &= c % bytes == 0;
  }
  if (!aligned)
    error(Twine(o.name) + " is not at a multiple of " + Twine(align) +
          " bytes");
  if (current->predicate)
    return;
  Range shift = affineRangeIn(program, queue, loops, a.affine);
  if (shift.empty())
    return;
  Range elements = elementRange(a);
  __int128 rows = __int128(a.rowStep) * (int64_t(a.partitions) - 1);
  __int128 low = __int128(a.offset) + shift.min +
                 (elements.min + (rows < 0 ? rows : 0)) * bytes;
  __int128 high = __int128(a.offset) + shift.max +
                  (elements.max + (rows > 0 ? rows : 0)) * bytes + bytes;
  int64_t limit = 0;
  std::string memory;
  switch (a.space) {
  case Space::Sbuf:
    limit = machine.sbuf.partitionBytes;
    memory = "a partition of sbuf";
    break;
  case Space::Psum:
    limit = machine.psum.banks * machine.psum.bankBytes;
    memory = "a partition of psum";
    break;
  default:
    limit = int64_t(program.buffers[a.buffer].bytes);
    memory = "buffer '" + program.buffers[a.buffer].name + "'";
    break;
  }
  auto clip = [](__int128 v) {
    return int64_t(v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : v);
  };
  if (low < 0)
    error(Twine(o.name) + " reaches byte " + Twine(clip(low)) + " of " +
          memory);
  if (high > limit)
    error(Twine(o.name) + " reaches byte " + Twine(clip(high) - 1) + " of " +
          memory + ", which has " + Twine(limit) + " bytes");
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

bool Checker::sameRows(const char *a, const Access &x, const char *b,
                       const Access &y) {
  if (x.partitions == y.partitions)
    return true;
  error(Twine(a) + " has " + Twine(x.partitions) + " rows, " + b + " has " +
        Twine(y.partitions));
  return false;
}

bool Checker::sameElements(const char *a, const Access &x, const char *b,
                           const Access &y) {
  if (x.elements() == y.elements())
    return true;
  error(Twine(a) + " has " + Twine(x.elements()) + " elements per row, " + b +
        " has " + Twine(y.elements()));
  return false;
}

static bool is8Bit(DType t) { return dtypeBits(t) == 8; }

void Checker::checkTensor() {
  auto doubleRow = [&](const char *name, const Access &a) {
    if (!machine.tensor.doubleRow)
      error(Twine("machine '") + machine.name + "' has no double_row");
    if (!is8Bit(a.dtype))
      error(Twine("double_row takes 8-bit types, ") + name + " is " +
            dtypeName(a.dtype));
    if (a.rank != 2 || a.count[0] != 2)
      error(Twine("double_row takes dimensions [2, n], ") + name +
            " has another shape");
  };
  auto passFits = [&](const Access &a) {
    if (current->sub[0] && a.dtype != DType::F32)
      error(Twine("only f32 has passes, the operand is ") + dtypeName(a.dtype));
  };
  if (current->op() == Opcode::LoadWeights) {
    const Access &w = *operand(0);
    bool pair = current->has(flag::weightsDoubleRow);
    if (pair)
      doubleRow("weights", w);
    uint64_t columns = pair ? w.elements() / 2 : w.elements();
    if (w.partitions > machine.tensor.rows)
      error("weights have " + Twine(w.partitions) + " rows, the array has " +
            Twine(machine.tensor.rows));
    if (columns > uint64_t(machine.tensor.columns))
      error("weights have " + Twine(columns) + " columns, the array has " +
            Twine(machine.tensor.columns));
    passFits(w);
    weights = current;
    return;
  }
  if (!weights)
    return error("no load_weights comes before it in the queue");
  const Access &w = *program.access(*weights, 0);
  bool pair = weights->has(flag::weightsDoubleRow);
  uint64_t columns = pair ? w.elements() / 2 : w.elements();
  const Access &dst = *operand(0);
  if (dst.partitions != columns)
    error("dst has " + Twine(dst.partitions) +
          " partitions, the weights loaded before "
          "have " +
          Twine(columns) + " columns");
  if (current->op() == Opcode::Transpose) {
    if (dst.elements() != w.partitions)
      error("dst has " + Twine(dst.elements()) +
            " elements per row, the weights loaded "
            "before have " +
            Twine(w.partitions) + " rows");
    bool narrow = is8Bit(w.dtype);
    if (pair)
      error("the weights loaded before are double_row");
    if (narrow ? dst.dtype != DType::BF16 && dst.dtype != DType::F16
               : dst.dtype != w.dtype)
      error(Twine("dst is ") + dtypeName(dst.dtype) +
            ", the weights loaded before are " + dtypeName(w.dtype));
  } else {
    const Access &moving = *operand(1);
    bool movingPair = current->has(flag::matmulDoubleRow);
    if (movingPair)
      doubleRow("moving", moving);
    uint64_t n = movingPair ? moving.elements() / 2 : moving.elements();
    if (movingPair != pair)
      error("double_row here and on the load_weights before differ");
    if (n < 1 || n > uint64_t(machine.tensor.movingMax))
      error("moving has " + Twine(n) + " columns, allowed are 1 to " +
            Twine(machine.tensor.movingMax));
    if (dst.elements() != n)
      error("dst has " + Twine(dst.elements()) +
            " elements per row, moving has " + Twine(n) + " columns");
    if (moving.partition != w.partition || moving.partitions != w.partitions)
      error("moving has partitions " + Twine(moving.partition) + ":" +
            Twine(moving.partition + moving.partitions) +
            ", the weights loaded before " + Twine(w.partition) + ":" +
            Twine(w.partition + w.partitions));
    bool wide = dtypeBits(moving.dtype) == 32 || dtypeBits(w.dtype) == 32;
    auto isFn = [](DType t) { return t == DType::F8E4M3FN; };
    bool mixed = (isFn(moving.dtype) && w.dtype == DType::F8E4M3) ||
                 (isFn(w.dtype) && moving.dtype == DType::F8E4M3);
    if ((wide && moving.dtype != w.dtype) || mixed)
      error(Twine("moving is ") + dtypeName(moving.dtype) +
            ", the weights loaded before are " + dtypeName(w.dtype));
    passFits(moving);
    if (current->sub[0] != weights->sub[0])
      error("pass here and on the load_weights before differ");
  }
  // Banks: exact for a fixed address, or when every address it can have falls on
  // the same place of a bank; else the simulator looks.
  int64_t span = machine.psum.matmulBanks * machine.psum.bankBytes;
  int64_t period = machine.psum.bankBytes;
  int64_t start = dst.offset;
  if (dst.affine) {
    const AffineForm &form = program.affines[dst.affine - 1];
    start += form.base % period;
    period = std::gcd(period, form.slotStride);
    for (int64_t c : form.coefficients)
      period = std::gcd(period, c);
  }
  Range elements = elementRange(dst);
  int64_t bytes = dtypeBytes(dst.dtype);
  if (period == machine.psum.bankBytes && elements.max < span) {
    int64_t first = (start + elements.min * bytes) % period;
    int64_t last = first + (elements.max - elements.min) * bytes + bytes;
    if (first >= 0 && last > span)
      error("dst reaches byte " + Twine(last - 1) +
            " of its first psum bank; one " + info->mnemonic + " writes " +
            Twine(machine.psum.matmulBanks) +
            (machine.psum.matmulBanks == 1 ? " bank of " : " banks of ") +
            Twine(machine.psum.bankBytes));
  } else if (elements.max >= span) {
    error("dst spans more than " + Twine(span) + " bytes of psum");
  }
}

/// Which operations an instruction takes, and scalars of one element.
void Checker::checkArithmetic() {
  Engine engine = queueNow().engine;
  bool integers = computesInIntegers(program, engine, *current);
  for (const FieldInfo &f : info->fields) {
    if (f.kind != FieldKind::Alu)
      continue;
    Alu op = Alu(getField(*current, f.place));
    auto refuse = [&](const Twine &why) {
      error(Twine(f.name) + " is " + aluName(op) + ", " + why);
    };
    bool chain =
        op == Alu::Add || op == Alu::Mul || op == Alu::Max || op == Alu::Min;
    if (llvm::StringRef(f.name) == "acc_op") {
      bool have = current->operand(4) >= 0;
      if (have && !chain)
        refuse("allowed are add, mul, max, min");
      if (!have && (op != Alu::Bypass || current->has(flag::accCarry)))
        error("acc_op or carry without acc");
      continue;
    }
    if (current->op() == Opcode::Reduce && !chain && op != Alu::AbsMax &&
        op != Alu::AbsMin && op != Alu::And && op != Alu::Or && op != Alu::Xor)
      refuse("allowed are add, mul, max, min, abs_max, abs_min, and, or, xor");
    if (engine == Engine::Scalar && !chain && op != Alu::Sub &&
        op != Alu::Bypass)
      refuse("scalar has bypass, add, sub, mul, max, min");
    bool divides = op == Alu::FloorDiv || op == Alu::FloorMod;
    if (divides && !(integers && engine == Engine::Gpsimd))
      refuse("which gpsimd does on integers only");
    bool floatsOnly = op == Alu::Reciprocal || op == Alu::Sqrt ||
                      op == Alu::Rsqrt || op == Alu::Round ||
                      op == Alu::Floor || op == Alu::Ceil;
    if (floatsOnly && integers)
      refuse("which is for floats, the inputs are integers");
    if (aluIsBitwise(op))
      for (const OperandInfo &o : info->operands)
        if (const Access *a = operand(o.slot); a && !dtypeIsInteger(a->dtype))
          error(Twine(f.name) + " is " + aluName(op) +
                ", which is for integers, " + o.name + " is " +
                dtypeName(a->dtype));
  }
  const Access *acc = info->operands.size() > 4 ? operand(4) : nullptr;
  if (acc && (acc->dtype == DType::I32) != integers)
    error(Twine("acc is ") + dtypeName(acc->dtype) +
          ", the result is computed in " + (integers ? "i32" : "f32"));
}

void Checker::checkElementwise() {
  const Access &dst = *operand(0);
  for (const OperandInfo &o : info->operands) {
    const Access *a = operand(o.slot);
    if (!a || o.slot == 0)
      continue;
    sameRows("dst", dst, o.name, *a);
    llvm::StringRef name = o.name;
    bool scalar = name == "s0" || name == "s1" || name == "scale" ||
                  name == "bias" || name == "acc";
    if (scalar && a->elements() != 1)
      error(Twine(o.name) + " has " + Twine(a->elements()) +
            " elements per row, wanted 1");
    if (!scalar && current->op() != Opcode::Reduce)
      sameElements("dst", dst, o.name, *a);
  }
  // An operand replaces its immediate, which is then left at its default.
  auto unused = [&](unsigned slot, FieldPlace place, const char *name) {
    for (const FieldInfo &f : info->fields)
      if (f.place == place && operand(slot) &&
          getField(*current, place) != f.defaultBits)
        error(Twine(name) + " and an operand in its place are both given");
  };
  switch (current->op()) {
  case Opcode::TensorScalar:
    unused(3, FieldPlace::Imm1, "imm1");
    [[fallthrough]];
  case Opcode::ScalarTensorTensor:
    unused(2, FieldPlace::Imm0, "imm0");
    break;
  case Opcode::Activate:
    unused(2, FieldPlace::Imm0, "imm_scale");
    unused(3, FieldPlace::Imm1, "imm_bias");
    break;
  case Opcode::Select:
    unused(3, FieldPlace::Imm0, "imm0");
    break;
  default:
    break;
  }
  checkArithmetic();
}

void Checker::checkReduce() {
  const Access &dst = *operand(0), &src = *operand(1);
  uint32_t axes = current->sub[1];
  if (axes < 1 || axes > src.rank)
    return error("axes is " + Twine(axes) + ", src has " +
                 Twine(unsigned(src.rank)) + " dimensions");
  uint64_t outer = 1;
  for (unsigned d = 0; d + axes < src.rank; ++d)
    outer *= src.count[d];
  if (dst.elements() != outer)
    error("dst has " + Twine(dst.elements()) + " elements per row, src has " +
          Twine(outer) + " outside its reduced dimensions");
}

void Checker::checkBlockTranspose() {
  const Access &dst = *operand(0), &src = *operand(1);
  sameRows("dst", dst, "src", src);
  sameElements("dst", dst, "src", src);
  if (dst.dtype != src.dtype)
    error(Twine("dst is ") + dtypeName(dst.dtype) + ", src is " +
          dtypeName(src.dtype));
  if (src.partitions % 32 || src.elements() % 32)
    error("src is " + Twine(src.partitions) + " x " + Twine(src.elements()) +
          ", wanted multiples of 32");
}

void Checker::checkTransfer() {
  const Access &dst = *operand(0), &src = *operand(1);
  auto sameType = [&] {
    bool bits64 = dtypeBits(dst.dtype) == 64 || dtypeBits(src.dtype) == 64;
    if (dst.dtype != src.dtype &&
        (bits64 || current->op() == Opcode::DmaTranspose))
      error(Twine("dst is ") + dtypeName(dst.dtype) + ", src is " +
            dtypeName(src.dtype) +
            (bits64 ? ", and 64-bit types are only moved"
                    : ", and bits are kept"));
  };
  sameType();
  switch (current->op()) {
  case Opcode::DmaCopy:
    sameRows("dst", dst, "src", src);
    sameElements("dst", dst, "src", src);
    break;
  case Opcode::DmaTranspose:
    if (dst.partitions != src.elements() || dst.elements() != src.partitions)
      error("dst is " + Twine(dst.partitions) + " x " + Twine(dst.elements()) +
            ", src is " + Twine(src.partitions) + " x " +
            Twine(src.elements()));
    break;
  default: {
    const Access &index = *operand(2);
    sameElements("dst", dst, "src", src);
    sameRows("dst", dst, "index", index);
    if (index.elements() != 1)
      error("index has " + Twine(index.elements()) +
            " elements per row, wanted 1");
    break;
  }
  }
}

void Checker::checkOperands() {
  unsigned before = diags.errorCount();
  for (const OperandInfo &o : info->operands)
    if (const Access *a = operand(o.slot))
      checkOperand(o, *a);
  if (diags.errorCount() != before)
    return; // shapes of operands that are wrong in themselves say little
  switch (current->op()) {
  case Opcode::LoadWeights:
  case Opcode::Matmul:
  case Opcode::Transpose:
    return checkTensor();
  case Opcode::BlockTranspose:
    return checkBlockTranspose();
  case Opcode::DmaCopy:
  case Opcode::DmaTranspose:
  case Opcode::DmaGather:
    return checkTransfer();
  case Opcode::Reduce:
    checkReduce();
    [[fallthrough]];
  default:
    if (!info->operands.empty())
      checkElementwise();
  }
}
