//===- Signature.cpp - the C side of a kernel -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From kernel.func to the lists that header and functions are made of:
//
//   kernel.func @scale sizes [M, N] (a = %a: tensor<?x?xf32> [M, N],
//                                    new = %f: tensor<f32> []) -> (y: ...)
//   ─▶ int64_t dim_M, int64_t dim_N, const float *a, int64_t ld_a, float new_,
//      float *y, int64_t ld_y, const facet_exec *exec
//
// Refused here, because only here the C side is known: names that are no
// identifiers, names of the C library, and names that two functions would share.
//
//===----------------------------------------------------------------------===//

#include "Signature.h"

#include "Names.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace facet;
using namespace facet::interface;

std::string facet::interface::spell(kernel::AxisAttr axis) {
  std::string text;
  for (Attribute dim : axis.getDims()) {
    if (!text.empty())
      text += ", ";
    if (auto size = dyn_cast<StringAttr>(dim))
      text += size.getValue();
    else
      text += std::to_string(cast<IntegerAttr>(dim).getInt());
  }
  return axis.getDims().size() == 1 ? text : "(" + text + ")";
}

unsigned Signature::sizeIndex(StringAttr size) const {
  auto it = llvm::find(sizes, size.getValue());
  assert(it != sizes.end() && "the verifier of kernel.func knows every size");
  return it - sizes.begin();
}

SmallVector<unsigned> Signature::sizesOf(const Parameter &parameter) const {
  SmallVector<unsigned> found;
  for (kernel::AxisAttr axis : parameter.axes)
    for (Attribute dim : axis.getDims())
      if (auto size = dyn_cast<StringAttr>(dim))
        if (unsigned i = sizeIndex(size); !llvm::is_contained(found, i))
          found.push_back(i);
  llvm::sort(found);
  return found;
}

bool Signature::hasPackable() const {
  return llvm::any_of(parameters,
                      [](const Parameter &p) { return p.isPackable(); });
}

std::vector<std::string> Signature::symbols() const {
  std::vector<std::string> all = {cName, symbol("workspace"), symbol("dl"),
                                  symbol("info")};
  for (const Parameter &parameter : parameters)
    if (parameter.isPackable()) {
      all.push_back(symbol("pack_" + parameter.name + "_bytes"));
      all.push_back(symbol("pack_" + parameter.name));
    }
  if (hasPackable())
    all.push_back(symbol("packed"));
  return all;
}

//===----------------------------------------------------------------------===//
// Prototypes
//===----------------------------------------------------------------------===//

static void addSizes(SmallVectorImpl<Formal> &formals,
                     ArrayRef<unsigned> sizes) {
  for (unsigned size : sizes)
    formals.push_back({Formal::Size, size});
}

static void addParameter(SmallVectorImpl<Formal> &formals,
                         const Parameter &parameter, unsigned index) {
  formals.push_back({Formal::Data, index});
  if (parameter.rank() == 2)
    formals.push_back({Formal::Leading, index});
  else if (parameter.rank() > 2)
    formals.push_back({Formal::Strides, index});
}

SmallVector<Formal> Signature::call(bool packed) const {
  SmallVector<Formal> formals;
  for (unsigned i = 0, e = sizes.size(); i != e; ++i)
    formals.push_back({Formal::Size, i});
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    if (packed && parameter.isPackable())
      formals.push_back({Formal::Packed, static_cast<unsigned>(i)});
    else
      addParameter(formals, parameter, i);
  }
  formals.push_back({Formal::Exec});
  return formals;
}

SmallVector<Formal> Signature::workspace() const {
  SmallVector<Formal> formals;
  for (unsigned i = 0, e = sizes.size(); i != e; ++i)
    formals.push_back({Formal::Size, i});
  formals.push_back({Formal::Threads});
  return formals;
}

SmallVector<Formal> Signature::packBytes(unsigned parameter) const {
  SmallVector<Formal> formals;
  addSizes(formals, sizesOf(parameters[parameter]));
  return formals;
}

SmallVector<Formal> Signature::pack(unsigned parameter) const {
  SmallVector<Formal> formals = packBytes(parameter);
  addParameter(formals, parameters[parameter], parameter);
  formals.push_back({Formal::Target});
  return formals;
}

SmallVector<Formal> Signature::tensors() const {
  return {{Formal::TensorsIn}, {Formal::TensorsOut}, {Formal::Exec}};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Gives every parameter a name that no other word of the prototype has. Names
/// that need no change come first, so that they never move for others.
static void nameParameters(Signature &signature) {
  llvm::StringSet<> taken;
  for (StringRef word : {"exec", "threads", "dst", "in", "out"})
    taken.insert(word);
  for (const std::string &size : signature.sizes)
    taken.insert("dim_" + size);
  for (const Parameter &parameter : signature.parameters) {
    taken.insert("ld_" + parameter.name);
    taken.insert("strides_" + parameter.name);
  }
  auto isFree = [&](StringRef name) {
    return !isReservedWord(name) && !taken.contains(name);
  };
  for (bool changed : {false, true})
    for (Parameter &parameter : signature.parameters) {
      if (!parameter.cName.empty() || (!changed && !isFree(parameter.name)))
        continue;
      std::string name = parameter.name;
      while (!isFree(name))
        name += '_';
      taken.insert(name);
      parameter.cName = name;
    }
}

/// FACET_CHECK holds every result against every other array. All of it is one
/// function, for which LLVM takes seconds from here on.
static LogicalResult checkPairs(kernel::FuncOp kernel,
                                const Signature &signature) {
  constexpr unsigned mostPairs = 2048;
  unsigned written = 0, others = 0;
  for (const Parameter &parameter : signature.parameters)
    if (!parameter.isByValue())
      ++(parameter.isWritten() ? written : others);
  unsigned pairs = written * (written - 1) / 2 + written * others;
  if (!written || pairs <= mostPairs)
    return success();
  return kernel.emitError()
         << "kernel '" << signature.name << "' has " << written
         << " results and " << others << " other arrays: " << pairs
         << " pairs that must not overlap, at most " << mostPairs
         << " are allowed; spread the results over several kernels";
}

static LogicalResult checkNames(kernel::FuncOp kernel,
                                const Signature &signature,
                                const InterfaceOptions &options,
                                const SymbolTable *others) {
  if (!options.nameSpace.empty() && !isIdentifier(options.nameSpace))
    return kernel.emitError() << "the namespace '" << options.nameSpace
                              << "' is not a C identifier";
  if (!isIdentifier(signature.name))
    return kernel.emitError() << "kernel '" << signature.name
                              << "' has no C name: its name is not an "
                                 "identifier";
  for (const std::string &size : signature.sizes)
    if (!isIdentifier("dim_" + size))
      return kernel.emitError()
             << "size '" << size << "' of kernel '" << signature.name
             << "' has no C name: it is not an identifier";
  for (const Parameter &parameter : signature.parameters)
    if (!isIdentifier(parameter.name))
      return kernel.emitError()
             << "argument '" << parameter.name << "' of kernel '"
             << signature.name << "' has no C name: it is not an identifier";

  llvm::StringSet<> seen;
  for (const std::string &symbol : signature.symbols()) {
    if (isLibraryName(symbol)) {
      InFlightDiagnostic diagnostic = kernel.emitError()
                                      << "kernel '" << signature.name
                                      << "' would define '" << symbol
                                      << "', a name of the C library";
      diagnostic.attachNote() << "--namespace=NAME sets NAME_ in front of it";
      return diagnostic;
    }
    if (!seen.insert(symbol).second)
      return kernel.emitError() << "kernel '" << signature.name
                                << "' would define the C function '" << symbol
                                << "' twice; rename an argument";
    Operation *other =
        others ? others->lookup(symbol)
               : SymbolTable::lookupSymbolIn(kernel->getParentOp(), symbol);
    if (other && other != kernel) {
      InFlightDiagnostic diagnostic = kernel.emitError()
                                      << "kernel '" << signature.name
                                      << "' would define the C function '"
                                      << symbol << "', which exists already";
      diagnostic.attachNote(other->getLoc()) << "defined here";
      return diagnostic;
    }
  }
  return success();
}

FailureOr<Signature> facet::interface::describe(kernel::FuncOp kernel,
                                                const InterfaceOptions &options,
                                                const SymbolTable *others) {
  Signature signature;
  signature.name = kernel.getSymName();
  bool prefixed = !options.nameSpace.empty();
  std::string named = signature.name + options.suffix;
  signature.prefix = prefixed ? options.nameSpace + "_" + named : named;
  signature.cName = signature.prefix;
  if (!prefixed && isReservedWord(named) && !isLibraryName(named))
    signature.cName += '_';
  if (auto text = kernel.getDocumentation())
    signature.documentation = *text;

  signature.fixed.resize(kernel.getSizes().size());
  for (auto [i, size] :
       llvm::enumerate(kernel.getSizes().getAsRange<StringAttr>())) {
    signature.sizes.push_back(size.str());
    if (DictionaryAttr fixed = kernel.getFixedAttr())
      if (auto values = fixed.getAs<DenseI64ArrayAttr>(size))
        signature.fixed[i] = values.asArrayRef();
  }

  auto add = [&](kernel::ParamAttr param, Type type) -> LogicalResult {
    Type elementType = cast<RankedTensorType>(type).getElementType();
    const ElementType *element = lookUpElementType(elementType);
    if (!element)
      return kernel.emitError()
             << "'" << param.getName().getValue() << "' has elements of type "
             << elementType << ", which have no C type";
    Parameter parameter;
    parameter.name = param.getName().str();
    parameter.mode = param.getMode();
    parameter.element = element;
    parameter.axes.assign(param.getAxes().begin(), param.getAxes().end());
    signature.parameters.push_back(std::move(parameter));
    return success();
  };
  for (auto [i, argument] : llvm::enumerate(kernel.getBody().getArguments()))
    if (failed(add(kernel.getParam(i), argument.getType())))
      return failure();
  signature.numArguments = signature.parameters.size();
  for (auto [i, type] : llvm::enumerate(kernel.getOutputTypes()))
    if (failed(add(kernel.getOutput(i), cast<TypeAttr>(type).getValue())))
      return failure();
  kernel.walk([&](kernel::RequireOp promise) {
    signature.promises.push_back(promise.getText().str());
  });

  if (failed(checkNames(kernel, signature, options, others)) ||
      failed(checkPairs(kernel, signature)))
    return failure();
  nameParameters(signature);
  return signature;
}

LogicalResult facet::verifyInterface(kernel::FuncOp kernel,
                                     const InterfaceOptions &options) {
  return describe(kernel, options);
}
