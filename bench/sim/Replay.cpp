//===- Replay.cpp - a profile's instructions as a program -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profiler prints each instruction as text. This reads it back:
//
//   COPY S[5] (Tensor)>=2 S[6] (Vector)++@complete src=fp32@0x2000800[1,1][512,1]
//        dst=fp32@0x4000[1,1][512,1] channels=128
//   ->
//   copy dst=sbuf.f32[0:128, 0x4000, 512], src=psum.f32[0:128, 0x800, 512],
//        wait(s5 >= 2), update(s6 += 1)
//
// Addresses below 0x2000000 are bytes of a partition of SBUF, above it of PSUM;
// patterns are [steps][counts], innermost first. Transfers see partitions of SBUF
// 0x40000 apart and count bytes. What the profile does not say, the instruction
// set does not need either: only the time is asked for.
//
//===----------------------------------------------------------------------===//

#include "Profile.h"
#include "Table.h"

#include "facet/Isa/Builder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <map>

using namespace facet;
using namespace facet::bench;
using llvm::StringRef;

namespace {

constexpr int64_t psumWindow = 0x2000000;
constexpr int64_t partitionStride = 0x40000;
/// Above this, addresses of transfers are SBUF.
constexpr int64_t chipWindow = 0x802000000000;

class Writer {
public:
  Writer(const Machine &machine, const Profile &profile)
      : profile(profile), builder(machine) {}
  Replay write();

private:
  using Source = Profile::Instruction;

  std::optional<facet::Instruction> convert(const Source &source);
  void loadWeights(const Source &source, facet::Instruction &i);
  void matmul(const Source &source, facet::Instruction &i);
  void transfer(const Source &source, facet::Instruction &i);
  void synchronise(const Source &source, facet::Instruction &i);

  // The value after `key=`, up to the next space.
  static StringRef value(const Source &source, StringRef key);
  static int64_t whole(const Source &source, StringRef key);
  Access operand(const Source &source, StringRef key, int64_t partitions,
                 bool keepInnermost = false);
  Access pointer(StringRef address, int64_t partitions);
  uint32_t hbmBuffer(StringRef name);

  const Profile &profile;
  ProgramBuilder builder;
  std::map<std::string, uint32_t> buffers;
  // Of the weights loaded last.
  bool transposing = false;
  Pass pass = Pass::All;
  int64_t rows = 0, columns = 0;
  DType weightType = DType::F32;
  /// A group opened by the low pass is opened by the high one here.
  bool opened = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

StringRef Writer::value(const Source &source, StringRef key) {
  StringRef text = source.operands;
  size_t at = 0;
  while ((at = text.find(key.str() + "=", at)) != StringRef::npos) {
    if (at == 0 || text[at - 1] == ' ')
      return text.substr(at + key.size() + 1).take_until([](char c) {
        return c == ' ';
      });
    ++at;
  }
  fatal(source.opcode + " has no '" + key + "': " + source.operands);
}

static int64_t number(StringRef text) {
  int64_t value;
  if (text.getAsInteger(0, value))
    fatal("'" + text + "' is no number");
  return value;
}

int64_t Writer::whole(const Source &source, StringRef key) {
  return number(value(source, key));
}

static std::vector<int64_t> numbers(StringRef list) {
  std::vector<int64_t> values;
  for (StringRef one : llvm::split(list, ','))
    values.push_back(number(one));
  return values;
}

static DType typeOf(StringRef name) {
  return llvm::StringSwitch<DType>(name)
      .Case("bfloat16", DType::BF16)
      .Default(DType::F32);
}

/// `[steps][counts]`, innermost first, as pairs, innermost first.
static std::vector<std::pair<int64_t, int64_t>> pattern(StringRef text) {
  auto [steps, counts] = text.drop_front().drop_back().split("][");
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (auto [step, count] : llvm::zip(numbers(steps), numbers(counts)))
    dims.emplace_back(step, count);
  return dims;
}

/// `fp32@0x4000[1,1][512,1]`; matmul's dst has no type: f32.
Access Writer::operand(const Source &source, StringRef key, int64_t partitions,
                       bool keepInnermost) {
  StringRef text = value(source, key);
  Access access;
  if (text.contains('@')) {
    access.dtype = typeOf(text.split('@').first);
    text = text.split('@').second;
  }
  int64_t address = number(text.take_until([](char c) { return c == '['; }));
  access.partitions = uint32_t(partitions);
  int64_t bytes = dtypeBytes(access.dtype);
  llvm::SmallVector<std::pair<int64_t, int64_t>> dims;
  for (auto [step, count] : pattern(text.substr(text.find('['))))
    if (count != 1 || (keepInnermost && dims.empty()))
      dims.push_back({count == 1 ? 0 : step, count});
  for (auto &[step, count] : dims)
    if (step < 0) { // weights are read backwards; which way costs nothing here
      address += step * (count - 1) * bytes;
      step = -step;
    }
  // Rows of 32 columns that are four apart: the same bytes as 128 side by side.
  llvm::sort(dims.begin() + (keepInnermost ? 1 : 0), dims.end());
  if (dims.size() == 2 && !keepInnermost &&
      dims[1].first == dims[0].first * dims[0].second) {
    dims[0].second *= dims[1].second;
    dims.pop_back();
  }
  access.space = address >= psumWindow ? Space::Psum : Space::Sbuf;
  // Elements of 4 bytes lie at any multiple of 8 here, of 4 with us.
  access.offset = address - (address >= psumWindow ? psumWindow : 0);
  for (auto [step, count] : llvm::reverse(dims)) {
    access.count[access.rank] = uint32_t(count);
    access.step[access.rank++] = step;
  }
  return access;
}

Access Writer::pointer(StringRef text, int64_t partitions) {
  Access access;
  access.partitions = uint32_t(partitions);
  access.offset = number(text.contains('@') ? text.split('@').second : text);
  return access;
}

//===----------------------------------------------------------------------===//
// Tensor engine
//===----------------------------------------------------------------------===//

void Writer::loadWeights(const Source &source, facet::Instruction &i) {
  auto [k, m] = StringRef(source.operands).rsplit(' ').second.split('*');
  rows = number(k), columns = number(m);
  transposing = value(source, "transpose_mode") == "ENABLED";
  Access weights = operand(source, "src", rows);
  weightType = weights.dtype;
  pass = Pass::All;
  if (weightType == DType::F32 && !transposing)
    pass = value(source, "fp32_mode") == "LOW" ? Pass::Low : Pass::High;
  i = ProgramBuilder::make(Opcode::LoadWeights);
  i.operands[0] = builder.access(weights);
  i.sub[0] = uint8_t(pass);
  if (transposing)
    i.flags |= flag::weightsForTranspose;
}

void Writer::matmul(const Source &source, facet::Instruction &i) {
  if (transposing) {
    i = ProgramBuilder::make(Opcode::Transpose);
    Access dst = operand(source, "dst", columns);
    dst.dtype = weightType;
    i.operands[0] = builder.access(dst);
    return;
  }
  i = ProgramBuilder::make(Opcode::Matmul);
  i.operands[0] = builder.access(operand(source, "dst", columns));
  i.operands[1] = builder.access(operand(source, "src", rows));
  i.sub[0] = uint8_t(pass);
  int64_t flags = whole(source, "acc_flags");
  opened |= flags & 1;
  if (pass == Pass::Low)
    return;
  if (opened)
    i.flags |= flag::matmulStart;
  if (flags & 2)
    i.flags |= flag::matmulStop;
  opened = false;
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

uint32_t Writer::hbmBuffer(StringRef name) {
  auto [at, added] = buffers.try_emplace(name.str(), 0);
  if (added) {
    Buffer b;
    b.name = ("h" + llvm::Twine(buffers.size())).str();
    b.kind = BufferKind::InOut;
    b.dtype = DType::F32;
    b.bytes = uint64_t(1) << 22;
    b.address = (buffers.size() - 1) * b.bytes;
    b.shape = {int64_t(b.bytes / 4)};
    b.strides = {1};
    at->second = builder.buffer(std::move(b));
  }
  return at->second;
}

void Writer::transfer(const Source &source, facet::Instruction &i) {
  i = ProgramBuilder::make(Opcode::DmaCopy);
  bool casts = StringRef(source.operands).contains("in_dtype=");
  for (unsigned slot : {0, 1}) {
    std::string side = slot == 0 ? "dst" : "src";
    Access access;
    access.dtype =
        casts ? typeOf(value(source, slot == 0 ? "out_dtype" : "in_dtype"))
              : DType::F32;
    int64_t bytes = dtypeBytes(access.dtype);
    int64_t element = whole(source, side + "_elem_size");
    auto dims = pattern(value(source, side + "_pattern"));
    bool table = !StringRef(source.operands).contains(side + "_addr_imm=");
    int64_t address = table ? 0 : whole(source, side + "_addr_imm");
    // The dimension of 128 is the partitions, on both sides.
    size_t partition = dims[0].second == 128 ? 0 : 1;
    access.partitions = uint32_t(dims[partition].second);
    bool chip = address >= chipWindow && !table &&
                dims[partition].first == partitionStride;
    if (chip) {
      access.offset = address & (partitionStride - 1);
    } else {
      access.space = Space::Hbm;
      access.buffer = hbmBuffer(
          table ? "table " + value(source, side + "_table_index").str()
                : value(source, side + "_addr_imm"));
      if (table)
        access.offset = whole(source, side + "_table_offset_imm");
      access.rowStep = dims[partition].first / bytes;
    }
    auto [step, count] = dims[1 - partition];
    if (count != 1 && step != element) {
      access.count[access.rank] = uint32_t(count);
      access.step[access.rank++] = step / bytes;
      count = 1;
    }
    access.count[access.rank] = uint32_t(element * count / bytes);
    access.step[access.rank++] = 1;
    if (access.space == Space::Hbm && access.rowStep == 1)
      access.rowStep = element / bytes;
    i.operands[slot] = builder.access(access);
  }
  i.sub[0] = source.engine == Engine::Sync     ? 0
             : source.engine == Engine::Scalar ? 1
                                               : 2;
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// `S[5] (Tensor)>=20` waits, `S[4] (Scalar)++@complete` and `semaphore=24` update.
void Writer::synchronise(const Source &source, facet::Instruction &i) {
  unsigned waits = 0, updates = 0;
  StringRef rest = source.operands;
  for (size_t at; (at = rest.find("S[")) != StringRef::npos;) {
    rest = rest.substr(at + 2);
    unsigned semaphore =
        unsigned(number(rest.take_until([](char c) { return c == ']'; })));
    StringRef action = rest.substr(rest.find(')') + 1);
    SemaphoreRef ref = SemaphoreRef::get(semaphore);
    if (action.starts_with(">=")) {
      StringRef least =
          action.drop_front(2).take_while([](char c) { return isdigit(c); });
      i.waits[waits++] = {ref, 0, int32_t(number(least))};
    } else if (action.starts_with("++")) {
      i.updates[updates++] = {ref, 1};
    } else {
      fatal("a semaphore is used in an unknown way: " + source.operands);
    }
  }
  if (i.isTransfer())
    i.updates[updates++] = {
        SemaphoreRef::get(unsigned(whole(source, "semaphore"))), 1};
}

std::optional<facet::Instruction> Writer::convert(const Source &source) {
  StringRef opcode = source.opcode;
  facet::Instruction i;
  auto channels = [&] { return whole(source, "channels"); };
  auto elementwise = [&](Opcode op, bool keepInnermost = false) {
    i = ProgramBuilder::make(op);
    i.operands[0] = builder.access(operand(source, "dst", channels()));
    i.operands[1] =
        builder.access(operand(source, "src", channels(), keepInnermost));
  };
  if (opcode == "LDWEIGHTS") {
    loadWeights(source, i);
  } else if (opcode == "MATMUL") {
    matmul(source, i);
  } else if (opcode == "DMA_DIRECT2D") {
    transfer(source, i);
  } else if (opcode == "COPY" || opcode == "CAST") {
    elementwise(Opcode::Copy);
  } else if (opcode == "RECIPROCAL") {
    elementwise(Opcode::TensorScalar);
    i.sub[0] = uint8_t(Alu::Reciprocal);
  } else if (opcode == "TENSOR_SCALAR") {
    elementwise(Opcode::TensorScalar);
    i.sub[0] = uint8_t(Alu::Mul);
    i.operands[2] = builder.access(
        pointer(value(source, "imm").split(',').first, channels()));
  } else if (opcode == "TENSOR_REDUCE") {
    elementwise(Opcode::Reduce, /*keepInnermost=*/true);
    i.sub[0] = uint8_t(value(source, "op") == "MAX" ? Alu::Max : Alu::Add);
    i.sub[1] = 1;
  } else if (opcode == "ACTIVATE") {
    elementwise(Opcode::Activate);
    i.sub[0] = uint8_t(Function::Exp);
    i.operands[3] =
        builder.access(pointer(value(source, "bias_ptr"), channels()));
  } else if (opcode == "ACT_TABLE_LOAD") {
    // Tables load with their first use, so one element is used here.
    i = ProgramBuilder::make(Opcode::Activate);
    Access one;
    one.offset = builder.get().machine.sbuf.partitionBytes - 4;
    i.operands[0] = i.operands[1] = builder.access(one);
    i.sub[0] = uint8_t(Function::Exp);
  } else {
    i = ProgramBuilder::make(Opcode::Nop);
  }
  synchronise(source, i);
  return i;
}

Replay Writer::write() {
  for (unsigned s = 0; s != 256; ++s)
    builder.semaphore({});
  Replay result;
  for (size_t index = 0; index != profile.user.size(); ++index) {
    const Source &source = profile.user[index];
    std::optional<facet::Instruction> i = convert(source);
    if (builder.get().queues.empty() ||
        builder.get().queues.back().engine != source.engine)
      result.source.emplace_back();
    builder.add(source.engine, *i);
    result.source.back().push_back(index);
  }
  result.program = builder.finish();
  return result;
}

Replay bench::replay(const Machine &machine, const Profile &profile) {
  return Writer(machine, profile).write();
}
