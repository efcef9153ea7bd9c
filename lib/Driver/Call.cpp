//===- Call.cpp - one call of a kernel ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays out the arguments as the emitted interface wants them: sizes, then each
// argument and result with its strides, then how to run.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include "facet/runtime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>

using namespace llvm;
using namespace facet;

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

void Workspace::Free::operator()(void *memory) const { std::free(memory); }

void *Workspace::reserve(size_t bytes) {
  if (bytes <= size)
    return memory.get();
  memory.reset();
  size = 0;
  if (bytes > size_t(PTRDIFF_MAX) - 64)
    return nullptr;
  size_t rounded = alignTo(bytes, 64);
  memory.reset(std::aligned_alloc(64, rounded));
  if (memory)
    size = rounded;
  return memory.get();
}

//===----------------------------------------------------------------------===//
// Laying out
//===----------------------------------------------------------------------===//

namespace {

/// Owns the values whose addresses the caller gets.
class ArgumentList {
public:
  void add(int64_t value) { push(uint64_t(value)); }
  void add(void *pointer) { push(reinterpret_cast<uint64_t>(pointer)); }
  /// The bytes of one element, at most eight.
  void addElement(const uint8_t *bytes, size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, bytes, size);
    push(value);
  }
  SmallVector<void *> addresses() {
    SmallVector<void *> result;
    for (uint64_t &value : values)
      result.push_back(&value);
    return result;
  }

private:
  void push(uint64_t value) { values.push_back(value); }
  std::deque<uint64_t> values; // little-endian: a prefix is the narrower value
};

} // namespace

SmallVector<int64_t, 4> facet::denseStrides(ScalarType type,
                                            ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides;
  int64_t stride = 1, least = bitWidth(type) == 4 ? 2 : 1;
  for (size_t axis = shape.size(); axis-- > 1; least = 1) {
    stride *= std::max(shape[axis], least);
    strides.insert(strides.begin(), stride);
  }
  return strides;
}

/// An empty array has an address too: NULL means that it is left out.
static void *dataOf(std::optional<Array> &array) {
  static uint64_t nothing[8];
  if (!array)
    return nullptr;
  return array->bytes.empty() ? static_cast<void *>(nothing)
                              : array->bytes.data();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// What NAME needs at these sizes, from `workspace`.
static void reserveFor(facet_exec &exec, Loaded &code, const HostKernel &kernel,
                       const SizeValues &sizes, Workspace &workspace) {
  ArgumentList query;
  for (int64_t size : sizes)
    query.add(size);
  query.add(int64_t(exec.threads));
  // A size the kernel refuses has no workspace; the call then says why.
  int64_t bytes = code.call(kernel.symbol() + "_workspace", query.addresses());
  if (bytes > 0) {
    exec.workspace = workspace.reserve(size_t(bytes));
    exec.workspace_bytes = exec.workspace ? size_t(bytes) : 0;
  }
}

struct PreparedCall::Layout {
  facet_exec exec;
  facet_error error{};
  ArgumentList list;
  std::vector<View> views;
  std::deque<Workspace> packed;
  SmallVector<void *> addresses;
  Loaded::Function *function = nullptr;
  int refused = 0; ///< by a packing function

  void addStrides(ArgumentList &to, View &view);
  /// NAME_pack_x of an array: the buffer, or null with `refused` set.
  void *pack(Loaded &code, const HostKernel &kernel, const HostParam &param,
             const SizeValues &sizes, View &view);
};

/// One stride is passed as it is, more as a list.
void PreparedCall::Layout::addStrides(ArgumentList &to, View &view) {
  if (view.strides.size() == 1)
    to.add(view.strides.front());
  else if (view.strides.size() > 1)
    to.add(static_cast<void *>(view.strides.data()));
}

void *PreparedCall::Layout::pack(Loaded &code, const HostKernel &kernel,
                                 const HostParam &param,
                                 const SizeValues &sizes, View &view) {
  std::set<int> used;
  for (const std::vector<HostDim> &axis : param.axes)
    for (const HostDim &dim : axis)
      if (dim.size >= 0)
        used.insert(dim.size);
  ArgumentList query, call;
  for (int size : used) {
    query.add(sizes[size]);
    call.add(sizes[size]);
  }
  std::string symbol = kernel.symbol() + "_pack_" + param.name;
  int64_t bytes = code.call(symbol + "_bytes", query.addresses());
  void *buffer =
      bytes < 0 ? nullptr : packed.emplace_back().reserve(size_t(bytes));
  if (!buffer) {
    refused = FACET_E_WORKSPACE;
    return nullptr;
  }
  call.add(view.data);
  addStrides(call, view);
  call.add(buffer);
  refused = int(code.call(symbol, call.addresses()));
  return buffer;
}

/// Views of dense arrays. Parameters without one keep their strides: the kernel says
/// that they are missing.
static std::vector<View> denseViews(const HostKernel &kernel,
                                    const SizeValues &sizes,
                                    Arguments &arguments) {
  std::vector<View> views;
  for (auto [param, array] : zip_equal(kernel.params, arguments)) {
    size_t rank = param.axes.size();
    std::optional<SmallVector<int64_t, 4>> shape = kernel.shape(param, sizes);
    View &view = views.emplace_back();
    view.data = dataOf(array);
    if (rank >= 2)
      view.strides = denseStrides(
          param.type, shape ? *shape : SmallVector<int64_t, 4>(rank));
  }
  return views;
}

PreparedCall::PreparedCall(Loaded &code, const HostKernel &kernel,
                           const SizeValues &sizes, Arguments &arguments,
                           Workspace &workspace, const facet_exec &exec,
                           bool isPacked)
    : PreparedCall(code, kernel, sizes, denseViews(kernel, sizes, arguments),
                   workspace, exec, isPacked) {}

PreparedCall::PreparedCall(Loaded &code, const HostKernel &kernel,
                           const SizeValues &sizes, ArrayRef<View> views,
                           Workspace &workspace, const facet_exec &exec,
                           bool isPacked)
    : layout(std::make_unique<Layout>()) {
  layout->exec = exec;
  layout->exec.error = &layout->error;
  layout->views = views.vec();
  reserveFor(layout->exec, code, kernel, sizes, workspace);

  ArgumentList &list = layout->list;
  for (int64_t size : sizes)
    list.add(size);
  for (auto [param, view] : zip_equal(kernel.params, layout->views)) {
    if (param.axes.empty() && !param.isOutput()) {
      uint64_t zero = 0;
      const void *element = view.data ? view.data : &zero;
      list.addElement(static_cast<const uint8_t *>(element),
                      std::max(bitWidth(param.type) / 8, 1u));
      continue;
    }
    if (isPacked && param.mode == kernel::ParamMode::Const &&
        !param.axes.empty()) {
      list.add(layout->pack(code, kernel, param, sizes, view));
      continue;
    }
    list.add(view.data);
    layout->addStrides(list, view);
  }
  list.add(static_cast<void *>(&layout->exec));
  layout->addresses = list.addresses();
  layout->function =
      code.function(kernel.symbol() + (isPacked ? "_packed" : ""));
}

PreparedCall::~PreparedCall() = default;

int PreparedCall::run() {
  if (layout->refused)
    return layout->refused;
  return int(layout->function(layout->addresses.data()));
}

const facet_error &PreparedCall::error() const { return layout->error; }

CallResult facet::callKernel(Loaded &code, const HostKernel &kernel,
                             const SizeValues &sizes, Arguments &arguments,
                             Workspace &workspace) {
  CallResult result;
  PreparedCall call(code, kernel, sizes, arguments, workspace);
  auto begin = std::chrono::steady_clock::now();
  result.code = call.run();
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  result.seconds = time.count();
  result.error = call.error();
  return result;
}

//===----------------------------------------------------------------------===//
// The judge
//===----------------------------------------------------------------------===//

SmallVector<unsigned> facet::outputsOf(const HostKernel &kernel) {
  SmallVector<unsigned> outputs;
  for (auto mode : {kernel::ParamMode::Inout, kernel::ParamMode::Out})
    for (auto [i, param] : enumerate(kernel.params))
      if (param.mode == mode)
        outputs.push_back(i);
  return outputs;
}

CallResult facet::callJudge(Loaded &code, const HostKernel &kernel,
                            const SizeValues &sizes, Arguments &before,
                            Arguments &after, std::vector<Judged> &judged,
                            Workspace &workspace) {
  CallResult result;
  ArgumentList list;
  for (int64_t size : sizes)
    list.add(size);
  auto addMemory = [&](unsigned param, std::optional<Array> &array) {
    list.add(dataOf(array));
    std::optional<SmallVector<int64_t, 4>> shape =
        kernel.shape(kernel.params[param], sizes);
    for (int64_t stride : denseStrides(kernel.params[param].type, *shape))
      list.add(stride);
  };
  for (auto [i, param] : enumerate(kernel.params))
    if (param.isInput())
      addMemory(i, before[i]);
  for (unsigned output : outputsOf(kernel))
    addMemory(output, after[output]);
  for (Judged &output : judged) {
    list.add(static_cast<void *>(output.demanded.data()));
    list.add(static_cast<void *>(output.value.data()));
    list.add(static_cast<void *>(output.bound.data()));
  }

  ArgumentList query;
  for (int64_t size : sizes)
    query.add(size);
  int64_t bytes =
      code.call(kernel.name + ".judge.workspace", query.addresses());
  void *memory = bytes < 0 ? nullptr : workspace.reserve(size_t(bytes));
  if (bytes != 0 && !memory) {
    result.code = FACET_E_WORKSPACE;
    return result;
  }
  list.add(memory);
  list.add(static_cast<void *>(&result.error));
  result.code = int(code.call(kernel.name + ".judge", list.addresses()));
  return result;
}

std::string facet::describe(const CallResult &result,
                            const HostKernel &kernel) {
  if (result.error.code != result.code) {
    std::string text = "kernel '" + kernel.name + "': ";
    if (result.code <= FACET_E_REQUIRE &&
        size_t(FACET_E_REQUIRE - result.code) < kernel.promises.size())
      return text + "the promise " +
             kernel.promises[FACET_E_REQUIRE - result.code] + " is broken";
    return text + facet_strerror(result.code);
  }
  char text[512];
  facet_describe_error(&result.error, text, sizeof(text));
  return text;
}
