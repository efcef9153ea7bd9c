//===- HostKernel.cpp - a kernel as run and check call it -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads from kernel.func what a caller must know: sizes, arguments, results, and
// which integer arguments are subscripts of what, so that random ones stay in
// range:
//
//   u[m, r] = … a[id[m], k, r] …        id: every element below E, a's first axis
//
//===----------------------------------------------------------------------===//

#include "HostKernel.h"
#include "facet/Frontend/EmitKernel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace facet;

//===----------------------------------------------------------------------===//
// From the dialect
//===----------------------------------------------------------------------===//

namespace {
/// Finds the arguments whose elements are subscripts.
class SubscriptFinder {
public:
  SubscriptFinder(kernel::FuncOp func, HostKernel &kernel)
      : func(func), kernel(kernel) {}

  void run() {
    findAlwaysNeeded();
    func.walk([&](kernel::StructuredOpInterface op) {
      for (unsigned i = 0; i < op.getInputs().size(); ++i)
        lookAt(op, i);
    });
  }

private:
  /// Ops of which a result needs elements whatever the conditions are: returned, or
  /// read without a guard or filter by such an op.
  void findAlwaysNeeded() {
    for (Operation &op : llvm::reverse(func.getBody().front()))
      for (OpOperand &use : op.getUses()) {
        Operation *user = use.getOwner();
        bool needs = isa<kernel::ReturnOp>(user);
        if (auto reader = dyn_cast<kernel::StructuredOpInterface>(user)) {
          unsigned input = use.getOperandNumber() - reader.getExtents().size();
          needs = alwaysNeeded.contains(user) && reader.getFilter().empty() &&
                  input < reader.getInputs().size() &&
                  reader.getGuardsOfInput(input).empty();
        }
        if (needs)
          alwaysNeeded.insert(&op);
      }
  }

  void lookAt(kernel::StructuredOpInterface op, unsigned input) {
    for (auto [axis, subscript] :
         llvm::enumerate(op.getAccess(input).getSubscripts())) {
      if (subscript.kind != kernel::Subscript::Element)
        continue;
      Value indices = op.getInputs()[subscript.value];
      auto argument = dyn_cast<BlockArgument>(indices);
      if (!argument || argument.getOwner() != &func.getBody().front())
        continue;
      HostParam &param = kernel.params[argument.getArgNumber()];
      if (std::optional<HostDim> extent = extentOf(op.getInputs()[input], axis))
        param.indexBelow.push_back(*extent);
      if (alwaysNeeded.contains(op) && op.getFilter().empty() &&
          op.getGuardsOfInput(input).empty() &&
          op.getGuardsOfInput(subscript.value).empty())
        param.indexAlwaysUsed = true;
    }
  }

  HostDim dimOf(Attribute attribute) {
    if (auto name = dyn_cast<StringAttr>(attribute))
      return {
          int(llvm::find(kernel.sizes, name.getValue()) - kernel.sizes.begin()),
          0};
    return {-1, cast<IntegerAttr>(attribute).getInt()};
  }

  /// The extent of one dimension of a tensor inside the kernel.
  std::optional<HostDim> extentOf(Value tensor, unsigned dim) {
    if (int64_t extent =
            cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
        extent != ShapedType::kDynamic)
      return HostDim{-1, extent};
    if (auto argument = dyn_cast<BlockArgument>(tensor))
      return dimOf(func.getParam(argument.getArgNumber()).getDims()[dim]);
    auto producer = tensor.getDefiningOp<kernel::StructuredOpInterface>();
    if (!producer)
      return std::nullopt;
    // Dimensions of a result are the parallel iterators.
    auto extent = dyn_cast<Value>(producer.getMixedExtents()[dim]);
    auto size = extent ? extent.getDefiningOp<kernel::SizeOp>() : nullptr;
    if (!size)
      return std::nullopt;
    return dimOf(size.getNameAttr());
  }

  llvm::SmallPtrSet<Operation *, 8> alwaysNeeded;
  kernel::FuncOp func;
  HostKernel &kernel;
};
} // namespace

HostKernel::HostKernel(kernel::FuncOp func) : name(func.getSymName().str()) {
  for (Attribute size : func.getSizes())
    sizes.push_back(cast<StringAttr>(size).str());
  fixed.resize(sizes.size());
  if (DictionaryAttr values = func.getFixedAttr())
    for (auto [i, size] : llvm::enumerate(sizes))
      if (auto list = values.getAs<DenseI64ArrayAttr>(size))
        fixed[i].assign(list.asArrayRef().begin(), list.asArrayRef().end());

  auto add = [&](kernel::ParamAttr param, Type type) {
    HostParam host;
    host.name = param.getName().str();
    host.mode = param.getMode();
    host.type = *scalarTypeOf(cast<RankedTensorType>(type).getElementType());
    for (kernel::AxisAttr axis : param.getAxes()) {
      host.axes.emplace_back();
      for (Attribute dim : axis.getDims()) {
        HostDim hostDim;
        if (auto size = dyn_cast<StringAttr>(dim))
          hostDim.size = int(*func.getSizeIndex(size));
        else
          hostDim.number = cast<IntegerAttr>(dim).getInt();
        host.axes.back().push_back(hostDim);
      }
    }
    params.push_back(std::move(host));
  };
  for (auto [i, argument] : llvm::enumerate(func.getBody().getArguments()))
    add(func.getParam(i), argument.getType());
  for (auto [i, type] : llvm::enumerate(func.getOutputTypes()))
    add(func.getOutput(i), cast<TypeAttr>(type).getValue());
  for (auto require : func.getOps<kernel::RequireOp>())
    promises.push_back(require.getText().str());
  SubscriptFinder(func, *this).run();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

int64_t HostKernel::extent(const HostDim &dim, const SizeValues &values) const {
  return dim.size < 0 ? dim.number : values[dim.size];
}

std::optional<SmallVector<int64_t, 4>>
HostKernel::shape(const HostParam &param, const SizeValues &values) const {
  SmallVector<int64_t, 4> result;
  for (const std::vector<HostDim> &axis : param.axes) {
    int64_t product = 1;
    for (const HostDim &dim : axis)
      if (llvm::MulOverflow(product, extent(dim, values), product))
        return std::nullopt;
    result.push_back(product);
  }
  return result;
}

static std::string dimText(const HostKernel &kernel, const HostDim &dim) {
  return dim.size < 0 ? std::to_string(dim.number) : kernel.sizes[dim.size];
}

static std::string axisText(const HostKernel &kernel,
                            const std::vector<HostDim> &axis) {
  if (axis.size() == 1)
    return dimText(kernel, axis[0]);
  std::string text = "(";
  for (const HostDim &dim : axis)
    text += (text.size() > 1 ? ", " : "") + dimText(kernel, dim);
  return text + ")";
}

std::string HostKernel::axesText(const HostParam &param) const {
  std::string text = "(";
  for (const std::vector<HostDim> &axis : param.axes)
    text += (text.size() > 1 ? ", " : "") + axisText(*this, axis);
  return text + ")";
}

//===----------------------------------------------------------------------===//
// Sizes from shapes
//===----------------------------------------------------------------------===//

void SizeSolver::set(unsigned size, int64_t value, const std::string &origin,
                     Diagnostics &diagnostics) {
  auto [at, isNew] = known.try_emplace(size, Known{value, origin});
  if (isNew || at->second.value == value)
    return;
  diagnostics.error({}, "size " + kernel.sizes[size] + " is " +
                            Twine(at->second.value) + " by " +
                            at->second.origin + " and " + Twine(value) +
                            " by " + origin);
}

void SizeSolver::useShape(const HostParam &param, ArrayRef<int64_t> shape,
                          const std::string &origin, Diagnostics &diagnostics) {
  std::string who = origin + " of shape " + shapeText(shape);
  if (shape.size() != param.axes.size()) {
    diagnostics.error({}, "argument '" + param.name + "' is " +
                              kernel.axesText(param) + ", " +
                              Twine(param.axes.size()) +
                              (param.axes.size() == 1 ? " axis" : " axes") +
                              "; " + origin + " has shape " + shapeText(shape));
    return;
  }
  for (auto [i, axis] : llvm::enumerate(param.axes)) {
    if (axis.size() > 1) {
      groups.push_back({&param, unsigned(i), shape[i], who});
    } else if (axis[0].size >= 0) {
      set(axis[0].size, shape[i], who, diagnostics);
    } else if (axis[0].number != shape[i]) {
      diagnostics.error({}, "axis " + Twine(i) + " of argument '" + param.name +
                                "' is " + Twine(axis[0].number) + " in " +
                                kernel.axesText(param) + "; " + origin +
                                " has shape " + shapeText(shape));
    }
  }
}

bool SizeSolver::solveGroup(const Group &group, Diagnostics &diagnostics) {
  const std::vector<HostDim> &axis = group.param->axes[group.axis];
  int64_t product = 1;
  int unknown = -1, unknowns = 0;
  for (const HostDim &dim : axis) {
    if (dim.size >= 0 && !known.count(dim.size)) {
      ++unknowns;
      unknown = dim.size;
      continue;
    }
    int64_t value = dim.size < 0 ? dim.number : known[dim.size].value;
    if (llvm::MulOverflow(product, value, product))
      product = 0; // then nothing fits, and the message below says so
  }
  if (unknowns > 1)
    return false;
  if (unknowns == 1 && product != 0 && group.extent % product == 0) {
    set(unknown, group.extent / product, group.origin, diagnostics);
    return true;
  }
  if (unknowns == 0 && product == group.extent)
    return true;
  // One unknown beside an empty dimension stays unknown unless the axis is empty.
  if (unknowns == 1 && product == 0 && group.extent == 0)
    return false;
  diagnostics.error(
      {}, "axis " + Twine(group.axis) + " of argument '" + group.param->name +
              "' is the group " + axisText(kernel, axis) +
              (unknowns ? ", a multiple of " : ", that is ") + Twine(product) +
              ", not " + Twine(group.extent) + ", by " + group.origin);
  return true;
}

std::optional<SizeValues> SizeSolver::finish(Diagnostics &diagnostics) {
  for (size_t before = groups.size() + 1; before != groups.size();) {
    before = groups.size();
    llvm::erase_if(groups, [&](const Group &group) {
      return solveGroup(group, diagnostics);
    });
  }
  if (diagnostics.hasErrors())
    return std::nullopt;
  SizeValues values(kernel.sizes.size());
  SmallVector<StringRef> missing;
  for (unsigned i = 0; i < values.size(); ++i) {
    if (auto at = known.find(i); at != known.end())
      values[i] = at->second.value;
    else
      missing.push_back(kernel.sizes[i]);
  }
  if (!missing.empty()) {
    std::string list;
    for (StringRef name : missing)
      list += (list.empty() ? "" : ", ") + name.str();
    diagnostics.error({}, "no argument says what " + list +
                              (missing.size() == 1 ? " is" : " are") +
                              "; give " + missing.front() + "=NUMBER");
    return std::nullopt;
  }
  return values;
}
