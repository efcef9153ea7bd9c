//===- Call.cpp - a call of a kernel as a run of its program --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   rows of the caller's arrays ─▶ HBM buffers ─ runProgram ─▶ rows of the results
//
// A program is read and checked once and kept by its bytes, so that a call costs what
// its simulation does. Its time needs no data: it is worked out when somebody asks.
//
//===----------------------------------------------------------------------===//

#include "facet/Isa/Container.h"
#include "facet/Sim/Simulator.h"
#include "facet/Sim/Time.h"
#include "facet/sim.h"

#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>

using namespace facet;

namespace {

/// A program and what is known of it, for the life of the process.
struct Loaded {
  Program program;
  std::once_flag isTimed;
  double seconds = 0;
};

/// What a thread knows of its last call.
struct LastCall {
  std::shared_ptr<Loaded> loaded; ///< null: it failed
  std::string message;
};

} // namespace

static LastCall &lastCall() {
  static thread_local LastCall last;
  return last;
}

static std::string textOf(const Diagnostics &diagnostics) {
  std::string text;
  llvm::raw_string_ostream os(text);
  renderDiagnostics(diagnostics, DiagnosticFormat::Text, /*colour=*/false, os);
  return text;
}

/// Reads a program, or finds the one of the same bytes; null with a message.
static std::shared_ptr<Loaded> load(const facet_sim_kernel &kernel,
                                    std::string &message) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Loaded>, std::less<>> known;
  std::string_view bytes(static_cast<const char *>(kernel.program),
                         size_t(kernel.program_bytes));
  std::lock_guard<std::mutex> lock(mutex);
  if (auto at = known.find(bytes); at != known.end())
    return at->second;
  Diagnostics diagnostics;
  std::optional<Program> program = readProgram(
      {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()},
      "the kernel's program", diagnostics);
  if (!program) {
    message = textOf(diagnostics);
    return nullptr;
  }
  auto loaded = std::make_shared<Loaded>();
  loaded->program = std::move(*program);
  known.emplace(bytes, loaded);
  return loaded;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

namespace {
/// An array of the caller: rows of dense elements.
class Rows {
public:
  Rows(const facet_sim_operand &operand, void *data, const int64_t *strides)
      : operand(operand), data(static_cast<char *>(data)), strides(strides) {}

  /// Bytes of all elements, without gaps.
  size_t bytes() const { return size_t(rows()) * rowBytes(); }
  void copyTo(uint8_t *dense) const {
    forEach([&](char *row, size_t at) {
      std::memcpy(dense + at, row, rowBytes());
    });
  }
  void copyFrom(const uint8_t *dense) const {
    forEach([&](char *row, size_t at) {
      std::memcpy(row, dense + at, rowBytes());
    });
  }

private:
  int64_t bits() const;
  int64_t rows() const {
    int64_t count = 1;
    for (int32_t axis = 0; axis + 1 < operand.rank; ++axis)
      count *= operand.extents[axis];
    return count;
  }
  size_t rowBytes() const {
    int64_t elements = operand.rank ? operand.extents[operand.rank - 1] : 1;
    return size_t((elements * bits() + 7) / 8);
  }
  /// Calls visit(address, position in the dense array) for each row.
  template <typename Visit>
  void forEach(Visit visit) const {
    if (!bytes())
      return;
    for (int64_t row = 0, count = rows(); row < count; ++row) {
      int64_t offset = 0, left = row;
      for (int32_t axis = operand.rank - 2; axis >= 0; --axis) {
        offset += left % operand.extents[axis] * strides[axis];
        left /= operand.extents[axis];
      }
      visit(data + offset * bits() / 8, size_t(row) * rowBytes());
    }
  }

  const facet_sim_operand &operand;
  char *data;
  const int64_t *strides;
};
} // namespace

int64_t Rows::bits() const {
  switch (operand.type) {
  case FACET_I4:
  case FACET_U4:
    return 4;
  case FACET_F16:
  case FACET_BF16:
  case FACET_I16:
    return 16;
  case FACET_I32:
  case FACET_F32:
    return 32;
  case FACET_I64:
  case FACET_F64:
    return 64;
  default:
    return 8;
  }
}

static int64_t integerAt(const uint8_t *dense, int32_t type, size_t index) {
  auto read = [&](auto value) {
    std::memcpy(&value, dense + index * sizeof(value), sizeof(value));
    return int64_t(value);
  };
  switch (type) {
  case FACET_I64:
    return read(int64_t());
  case FACET_I32:
    return read(int32_t());
  case FACET_I16:
    return read(int16_t());
  case FACET_I8:
    return read(int8_t());
  case FACET_I4: {
    uint8_t nibble = uint8_t(dense[index / 2] >> (index % 2 * 4)) & 15;
    return nibble < 8 ? nibble : nibble - 16;
  }
  case FACET_U4:
    return (dense[index / 2] >> (index % 2 * 4)) & 15;
  default:
    return dense[index];
  }
}

/// Nothing on the machine looks at subscripts. All must lie in range, those that a
/// condition of the kernel excludes too: which these are is not known here.
static bool checkSubscripts(const facet_sim_operand &operand,
                            const std::vector<uint8_t> &dense,
                            facet_error *error) {
  size_t count = 1;
  for (int32_t axis = 0; axis < operand.rank; ++axis)
    count *= size_t(operand.extents[axis]);
  for (size_t i = 0; i < count; ++i) {
    int64_t value = integerAt(dense.data(), operand.type, i);
    if (value >= 0 && value < operand.below)
      continue;
    if (error) {
      error->code = FACET_E_INDEX;
      error->axis = -1;
      error->argument = operand.name;
      error->found = value;
      error->wanted = operand.below;
    }
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

static int call(const facet_sim_kernel *kernel, void *const *data,
                const int64_t *strides, facet_error *error, LastCall &last) {
  std::shared_ptr<Loaded> loaded = load(*kernel, last.message);
  if (!loaded)
    return FACET_E_TASK;
  const Program &program = loaded->program;

  std::vector<std::vector<uint8_t>> memory(program.buffers.size());
  std::vector<std::pair<size_t, Rows>> results; // by buffer
  for (int64_t n = 0; n < kernel->operand_count; ++n) {
    const facet_sim_operand &operand = kernel->operands[n];
    Rows rows(operand, data[n], strides);
    strides += operand.rank > 1 ? operand.rank - 1 : 0;
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      const Buffer &buffer = program.buffers[b];
      if (buffer.space != Space::Hbm || buffer.name != operand.name)
        continue;
      if (buffer.kind == BufferKind::Out || buffer.kind == BufferKind::InOut)
        results.emplace_back(b, rows);
      if (buffer.kind == BufferKind::Out)
        continue;
      memory[b].resize(rows.bytes());
      rows.copyTo(memory[b].data());
      if (operand.below >= 0 && !checkSubscripts(operand, memory[b], error))
        return FACET_E_INDEX;
    }
  }
  sim::RunResult result = sim::runProgram(program, memory);
  if (!result.isUsable()) {
    Diagnostics diagnostics;
    sim::reportFindings(program, result, "the kernel's program", diagnostics);
    last.message = textOf(diagnostics);
    return FACET_E_TASK;
  }
  for (const auto &[buffer, rows] : results)
    rows.copyFrom(memory[buffer].data());
  last.loaded = std::move(loaded);
  return FACET_OK;
}

int facet_sim_call(const facet_sim_kernel *kernel, void *const *data,
                   const int64_t *strides, facet_error *error) {
  LastCall &last = lastCall();
  last = {};
  try {
    return call(kernel, data, strides, error, last);
  } catch (const std::bad_alloc &) {
    last.message = "there is not enough memory to simulate the machine's";
    return FACET_E_TASK;
  }
}

double facet_sim_seconds(void) {
  Loaded *loaded = lastCall().loaded.get();
  if (!loaded)
    return 0;
  std::call_once(loaded->isTimed, [&] {
    loaded->seconds = sim::timeProgram(loaded->program).ns() * 1e-9;
  });
  return loaded->seconds;
}

const char *facet_sim_message(void) { return lastCall().message.c_str(); }
