//===- facet-sweep.cpp - random kernels: own-type form against the judge --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// facet-sweep FIRST COUNT
// facet-sweep --print FIRST COUNT     the kernels and their sizes, a line of JSON each
//
// For each seed: a generated kernel, compiled in both forms of the reference
// road, run at its sizes on random data with special values among them; every
// element must lie within its bound. A refused call must leave the results as
// they were. Prints the source and the data's seed of what does not agree.
//
//===----------------------------------------------------------------------===//

#include "facet/Conversion/KernelToLoops.h"
#include "facet/Frontend/EmitKernel.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Generate/KernelGenerator.h"
#include "facet/Pipelines/Pipelines.h"
#include "facet/Target/Jit.h"
#include "facet/Target/Judge.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <random>

using namespace facet;

namespace {

/// One array, or one element, in the layout of memory.
struct Memory {
  mlir::Type type;
  llvm::SmallVector<int64_t> axes;
  std::vector<uint8_t> bytes;

  int64_t count() const {
    int64_t n = 1;
    for (int64_t extent : axes)
      n *= extent;
    return n;
  }
};

using Random = std::mt19937_64;

unsigned bitsOf(mlir::Type type) {
  return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth();
}

Memory allocate(kernel::FuncOp kernel, kernel::ParamAttr param, mlir::Type type,
                llvm::ArrayRef<int64_t> sizes) {
  Memory memory{type, {}, {}};
  for (kernel::AxisAttr axis : param.getAxes()) {
    int64_t extent = 1;
    for (mlir::Attribute dim : axis.getDims())
      if (auto name = mlir::dyn_cast<mlir::StringAttr>(dim))
        extent *= sizes[*kernel.getSizeIndex(name.getValue())];
      else
        extent *= mlir::cast<mlir::IntegerAttr>(dim).getInt();
    memory.axes.push_back(extent);
  }
  memory.bytes.assign((memory.count() * bitsOf(type) + 7) / 8 + 8, 0xA5);
  return memory;
}

uint64_t bitsAt(const Memory &memory, int64_t i) {
  unsigned width = bitsOf(memory.type);
  if (width == 4)
    return memory.bytes[i / 2] >> (i % 2 * 4) & 15;
  uint64_t bits = 0;
  memcpy(&bits, &memory.bytes[i * width / 8], width / 8);
  return bits;
}

void setBits(Memory &memory, int64_t i, uint64_t bits) {
  unsigned width = bitsOf(memory.type);
  if (width == 4) {
    uint8_t &byte = memory.bytes[i / 2];
    byte = (byte & ~(15 << (i % 2 * 4))) | (bits & 15) << (i % 2 * 4);
  } else {
    memcpy(&memory.bytes[i * width / 8], &bits, width / 8);
  }
}

double decode(const Memory &memory, int64_t i) {
  uint64_t bits = bitsAt(memory, i);
  if (auto type = mlir::dyn_cast<mlir::FloatType>(memory.type)) {
    llvm::APFloat value(type.getFloatSemantics(),
                        llvm::APInt(type.getWidth(), bits));
    bool losesInfo;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return value.convertToDouble();
  }
  llvm::APInt value(bitsOf(memory.type), bits);
  if (memory.type.isInteger(1) || memory.type.isUnsignedInteger())
    return double(value.getZExtValue());
  return double(value.getSExtValue());
}

/// `level` 0: anything; 1: small indices; 2: zeros for integers.
void fill(Memory &memory, Random &random, int level) {
  auto integer = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  bool special = level == 0 && integer(0, 7) == 0;
  bool whole = integer(0, 2) == 0;
  for (int64_t i = 0, n = memory.count(); i < n; ++i) {
    if (auto type = mlir::dyn_cast<mlir::FloatType>(memory.type)) {
      double value = whole ? double(integer(-4, 4))
                           : std::normal_distribution<double>(0, 1.5)(random);
      llvm::APFloat number(value);
      bool losesInfo;
      number.convert(type.getFloatSemantics(),
                     llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      uint64_t bits = number.bitcastToAPInt().getZExtValue();
      if (special && integer(0, 9) == 0)
        bits = random(); // NaN, infinities, subnormals, huge
      setBits(memory, i, bits);
    } else if (memory.type.isInteger(1)) {
      setBits(memory, i, integer(0, 1));
    } else {
      int64_t value = level == 0   ? integer(-5, 6)
                      : level == 1 ? integer(0, 1)
                                   : 0;
      if (special && bitsOf(memory.type) <= 16)
        value = random();
      setBits(memory, i, value);
    }
  }
}

/// Calls a function of integers and pointers through their common register class.
/// The JIT gives a trampoline that takes an array, made in IR below.
using Trampoline = int64_t (*)(const uint64_t *);

/// `NAME.call`: NAME with its arguments from an array of 64-bit words.
void addTrampoline(mlir::OpBuilder &builder, mlir::LLVM::LLVMFuncOp function) {
  namespace LLVM = mlir::LLVM;
  mlir::Location loc = function.getLoc();
  mlir::Type i64 = builder.getI64Type();
  mlir::Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  builder.setInsertionPointAfter(function);
  auto wrapper = LLVM::LLVMFuncOp::create(
      builder, loc, (function.getName() + ".call").str(),
      LLVM::LLVMFunctionType::get(i64, {pointer}));
  builder.setInsertionPointToStart(wrapper.addEntryBlock(builder));
  llvm::SmallVector<mlir::Value> operands;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    mlir::Value place =
        LLVM::GEPOp::create(builder, loc, pointer, i64, wrapper.getArgument(0),
                            llvm::ArrayRef<LLVM::GEPArg>{int32_t(i)});
    operands.push_back(LLVM::LoadOp::create(builder, loc, type, place));
  }
  mlir::Value result =
      LLVM::CallOp::create(builder, loc, function, operands).getResult();
  if (result.getType() != i64)
    result = LLVM::SExtOp::create(builder, loc, i64, result);
  LLVM::ReturnOp::create(builder, loc, result);
}

void append(std::vector<uint64_t> &words, Memory &memory) {
  words.push_back(reinterpret_cast<uint64_t>(memory.bytes.data()));
  for (size_t i = 1; i < memory.axes.size(); ++i) {
    uint64_t stride = 1;
    for (size_t j = i; j < memory.axes.size(); ++j)
      stride *= memory.axes[j];
    words.push_back(stride);
  }
}

struct Sweep {
  mlir::MLIRContext &context;
  uint64_t kernels = 0, calls = 0, refused = 0, elements = 0, open = 0;

  bool run(uint64_t seed);
  bool compare(kernel::FuncOp kernel, Jit &jit, llvm::ArrayRef<int64_t> sizes,
               Random &random);
  int64_t call(Jit &jit, const std::string &name, std::vector<uint64_t> words,
               llvm::ArrayRef<int64_t> sizes, const std::string &space);
};

int64_t Sweep::call(Jit &jit, const std::string &name,
                    std::vector<uint64_t> words, llvm::ArrayRef<int64_t> sizes,
                    const std::string &space) {
  std::vector<uint64_t> dims(sizes.begin(), sizes.end());
  dims.push_back(0);
  int64_t bytes =
      reinterpret_cast<Trampoline>(jit.lookup(space + ".call"))(dims.data());
  std::vector<uint8_t> workspace(bytes + 64, 0xFF); // NaN
  uint64_t base = (reinterpret_cast<uint64_t>(workspace.data()) + 63) & ~63ull;
  words.push_back(base);
  words.push_back(0);
  return reinterpret_cast<Trampoline>(jit.lookup(name + ".call"))(words.data());
}

bool Sweep::compare(kernel::FuncOp kernel, Jit &jit,
                    llvm::ArrayRef<int64_t> sizes, Random &random) {
  std::string name = kernel.getSymName().str();
  std::vector<Memory> inputs, results;
  for (auto [param, argument] :
       llvm::zip_equal(kernel.getParams(), kernel.getBody().getArguments()))
    inputs.push_back(allocate(
        kernel, mlir::cast<kernel::ParamAttr>(param),
        mlir::cast<mlir::RankedTensorType>(argument.getType()).getElementType(),
        sizes));
  for (unsigned i = 0; i < kernel.getOutputs().size(); ++i)
    results.push_back(allocate(
        kernel, kernel.getOutput(i),
        mlir::cast<mlir::RankedTensorType>(
            mlir::cast<mlir::TypeAttr>(kernel.getOutputTypes()[i]).getValue())
            .getElementType(),
        sizes));
  for (int level = 0; level < 3; ++level) {
    for (Memory &memory : inputs)
      fill(memory, random, level);
    std::vector<Memory> after = inputs;
    std::vector<uint64_t> words(sizes.begin(), sizes.end());
    for (Memory &memory : after)
      append(words, memory);
    for (Memory &memory : results)
      append(words, memory);
    ++calls;
    int64_t code = call(jit, name + ".impl", words, sizes, name + ".workspace");
    if (code != 0) {
      ++refused;
      for (auto [old, now] : llvm::zip_equal(inputs, after))
        if (old.bytes != now.bytes) {
          llvm::errs() << "a refused call wrote to an inout\n";
          return false;
        }
      for (Memory &memory : results)
        for (uint8_t byte : memory.bytes)
          if (byte != 0xA5) {
            llvm::errs() << "a refused call wrote to a result\n";
            return false;
          }
      continue;
    }

    std::vector<Memory *> outputs;
    for (unsigned inout : kernel.getInoutParams())
      outputs.push_back(&after[inout]);
    for (Memory &memory : results)
      outputs.push_back(&memory);
    words.assign(sizes.begin(), sizes.end());
    for (Memory &memory : inputs)
      append(words, memory);
    for (Memory *memory : outputs)
      append(words, *memory);
    std::vector<std::vector<uint8_t>> demanded;
    std::vector<std::vector<double>> values, bounds;
    for (Memory *memory : outputs) {
      demanded.emplace_back(memory->count() + 1, 1);
      values.emplace_back(memory->count() + 1, 7e77);
      bounds.emplace_back(memory->count() + 1, -1);
      for (void *data : {static_cast<void *>(demanded.back().data()),
                         static_cast<void *>(values.back().data()),
                         static_cast<void *>(bounds.back().data())})
        words.push_back(reinterpret_cast<uint64_t>(data));
    }
    code = call(jit, name + ".judge", words, sizes, name + ".judge.workspace");
    if (code != 0) {
      llvm::errs() << "the judge refuses what the road took: " << code << "\n";
      return false;
    }
    for (auto [o, memory] : llvm::enumerate(outputs))
      for (int64_t i = 0, n = memory->count(); i < n; ++i) {
        double stored = decode(*memory, i), value = values[o][i],
               bound = bounds[o][i];
        ++elements;
        open += bound == HUGE_VAL;
        if (!compareWithJudge(stored, value, bound).agrees) {
          llvm::errs() << llvm::formatv(
              "output {0} element {1}: stored {2}, judged {3} within "
              "{4}\n",
              o, i, stored, value, bound);
          return false;
        }
      }
    break;
  }
  return true;
}

bool Sweep::run(uint64_t seed) {
  GeneratedKernel generated = generateKernel(seed);
  auto complain = [&](const llvm::Twine &what) {
    llvm::errs() << "seed " << seed << ": " << what << "\n"
                 << generated.source << "\n";
    return false;
  };
  Diagnostics diagnostics;
  auto checked =
      parseAndCheck("generated.facet", generated.source, {}, diagnostics);
  if (!checked || diagnostics.hasErrors()) {
    renderDiagnostics(diagnostics, DiagnosticFormat::Text, false, llvm::errs());
    return complain("does not check");
  }
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  kernel::FuncOp kernel = emitKernel(*module, *checked->kernels.front());
  mlir::OwningOpRef<kernel::FuncOp> copy = kernel.clone();
  KernelToLoopsOptions judge;
  judge.judge = true;
  if (failed(convertKernelToLoops(kernel, {})) ||
      failed(convertKernelToLoops(kernel, judge)) ||
      failed(mlir::verify(*module)) || failed(lowerToLLVM(*module)))
    return complain("does not lower");
  mlir::OpBuilder builder(&context);
  llvm::SmallVector<mlir::LLVM::LLVMFuncOp> functions(
      module->getOps<mlir::LLVM::LLVMFuncOp>());
  for (mlir::LLVM::LLVMFuncOp function : functions)
    if (function.getName().starts_with(generated.name + "."))
      addTrampoline(builder, function);
  ObjectOptions options;
  options.effort = facet::CodeEffort::Quick;
  std::string error;
  std::unique_ptr<Jit> jit = Jit::create(*module, options, error);
  if (!jit)
    return complain(error);
  ++kernels;
  Random random(seed);
  for (const std::map<std::string, int64_t> &values : generated.runs) {
    llvm::SmallVector<int64_t> sizes;
    for (mlir::Attribute size : copy->getSizes())
      sizes.push_back(
          values.at(mlir::cast<mlir::StringAttr>(size).getValue().str()));
    if (!compare(*copy, *jit, sizes, random)) {
      std::string text = "differs at";
      for (const auto &[name, value] : values)
        text += " " + name + "=" + std::to_string(value);
      return complain(text);
    }
  }
  return true;
}

} // namespace

/// One line for each kernel: {"seed": 7, "source": "…", "sizes": {"M": [3, 0]}}.
static int print(uint64_t first, uint64_t count) {
  for (uint64_t seed = first; seed < first + count; ++seed) {
    GeneratedKernel kernel = generateKernel(seed);
    llvm::json::Object sizes;
    for (const auto &run : kernel.runs)
      for (const auto &[name, value] : run) {
        llvm::json::Value &list = sizes[name];
        if (!list.getAsArray())
          list = llvm::json::Array();
        list.getAsArray()->push_back(value);
      }
    llvm::outs() << llvm::json::Value(
                        llvm::json::Object{{"seed", int64_t(seed)},
                                           {"source", kernel.source},
                                           {"sizes", std::move(sizes)}})
                 << "\n";
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 3 && llvm::StringRef(argv[1]) == "--print")
    return print(strtoull(argv[2], nullptr, 10),
                 strtoull(argv[3], nullptr, 10));
  uint64_t first = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1;
  uint64_t count = argc > 2 ? strtoull(argv[2], nullptr, 10) : 100;
  mlir::DialectRegistry registry;
  registerReferenceDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Sweep sweep{context};
  unsigned bad = 0;
  for (uint64_t seed = first; seed < first + count && bad < 5; ++seed)
    bad += !sweep.run(seed);
  llvm::outs() << llvm::formatv("{0} kernels, {1} calls, {2} refused; {3} "
                                "elements, {4} with any value accepted\n",
                                sweep.kernels, sweep.calls, sweep.refused,
                                sweep.elements, sweep.open);
  return bad ? 1 : 0;
}
