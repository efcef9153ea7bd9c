//===- Info.cpp - NAME_info -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel says about itself, as constant data behind one function:
//
//   const facet_info *linear_info(void) { return &linear.info; }
//
// The structs are those of facet/abi.h member by member; a 64-bit C compiler and
// LLVM lay them out alike, and the assertions below stop a change of one side.
//
//===----------------------------------------------------------------------===//

#include "EntryPoints.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace facet;
using namespace facet::interface;

static_assert(sizeof(facet_argument) == 32 && sizeof(facet_info) == 120,
              "the structs built here are those of facet/abi.h");

namespace {
/// Builds constant structs and arrays out of values.
class Data {
public:
  Data(Emission &emission)
      : emission(emission), constants(emission.constants),
        b(emission.loc(), emission.kernel->getContext()),
        pointer(LLVM::LLVMPointerType::get(b.getContext())) {}

  /// A constant array; null when it has no elements.
  template <typename Range, typename Make>
  std::string array(const Twine &name, Type element, const Range &range,
                    Make make) {
    if (range.empty())
      return "";
    auto type = LLVM::LLVMArrayType::get(element, range.size());
    return constants.global(b, (emission.signature.name + "." + name).str(),
                            type, [&](ImplicitLocOpBuilder &b) {
                              SmallVector<Value> members;
                              for (const auto &item : range)
                                members.push_back(make(item));
                              return aggregate(b, type, members);
                            });
  }

  Value string(StringRef text) { return constants.string(b, text); }
  Value i32(int64_t value) {
    return LLVM::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }
  Value address(StringRef global) {
    if (global.empty())
      return LLVM::ZeroOp::create(b, pointer);
    return constants.address(b, global);
  }

  Emission &emission;
  Constants &constants;
  ImplicitLocOpBuilder b;
  Type pointer;
};
} // namespace

/// 16 hex digits of the kernel's text without its places.
static std::string hashOf(kernel::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel->print(os, OpPrintingFlags().useLocalScope());
  return llvm::formatv("{0:x-16}", llvm::xxh3_64bits(text)).str();
}

void facet::interface::emitInfo(Emission &emission) {
  const Signature &signature = emission.signature;
  const InterfaceOptions &options = emission.options;
  Data data(emission);
  Type pointer = data.pointer, i32 = data.b.getI32Type();
  MLIRContext *context = emission.kernel->getContext();
  auto text = [&](StringRef value) { return data.string(value); };

  std::string sizes = data.array("sizes", pointer, signature.sizes, text);
  std::string promises =
      data.array("promises", pointer, signature.promises, text);
  std::string levels =
      data.array("levels", i32, options.levels,
                 [&](int32_t level) { return data.i32(level); });
  SmallVector<std::string> axes;
  for (const Parameter &parameter : signature.parameters)
    axes.push_back(data.array(
        "axes." + parameter.name, pointer, parameter.axes,
        [&](kernel::AxisAttr axis) { return data.string(spell(axis)); }));
  auto argumentType = LLVM::LLVMStructType::getLiteral(
      context, {pointer, i32, i32, i32, i32, pointer});
  unsigned next = 0;
  std::string arguments = data.array(
      "arguments", argumentType, signature.parameters,
      [&](const Parameter &parameter) {
        return aggregate(data.b, argumentType,
                         {data.string(parameter.name),
                          data.i32(parameter.element->number),
                          data.i32(static_cast<int32_t>(parameter.mode)),
                          data.i32(parameter.rank()), data.i32(0),
                          data.address(axes[next++])});
      });
  std::string flops = emitFlops(emission), level = emitLevelQuery(emission);

  auto infoType = LLVM::LLVMStructType::getLiteral(
      context,
      {i32, i32, pointer, pointer, pointer, pointer, pointer, pointer, i32, i32,
       i32, i32, pointer, pointer, pointer, pointer, pointer, pointer});
  std::string hash = hashOf(emission.kernel);
  std::string info = data.constants.global(
      data.b, signature.name + ".info", infoType, [&](ImplicitLocOpBuilder &) {
        return aggregate(
            data.b, infoType,
            {data.i32(sizeof(facet_info)), data.i32(FACET_ABI_VERSION),
             data.string(signature.name), data.string(signature.cName),
             data.string(signature.documentation), data.string(options.version),
             data.string(hash), data.string(options.plan),
             data.i32(signature.sizes.size()),
             data.i32(signature.parameters.size()),
             data.i32(signature.promises.size()),
             data.i32(options.levels.size()), data.address(sizes),
             data.address(arguments), data.address(promises),
             data.address(levels), data.address(flops), data.address(level)});
      });

  Function f(emission.constants, emission.loc(), signature,
             signature.symbol("info"), {}, pointer);
  f.finish(emission.constants.address(f.b, info));
}
