//===- KernelInterfaces.td - what map, reduce and softmax share -*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_IR_KERNELINTERFACES_TD
#define FACET_DIALECT_KERNEL_IR_KERNELINTERFACES_TD

include "mlir/IR/OpBase.td"

def Kernel_StructuredOpInterface : OpInterface<"StructuredOpInterface"> {
  let cppNamespace = "::facet::kernel";
  let description = [{
    Iterators, inputs with accesses and guards, and a scalar body. All methods that
    are not generated for the op itself are derived from its operands and properties.
  }];
  let methods = [
    InterfaceMethod<"names of all iterators, parallel ones first", "::mlir::ArrayAttr", "getIteratorNames">,
    InterfaceMethod<"how many of them are parallel, i.e. dimensions of the result", "uint64_t", "getNumParallel">,
    InterfaceMethod<"extents; dynamic ones are operands", "::llvm::ArrayRef<int64_t>", "getStaticExtents">,
    InterfaceMethod<"the dynamic extents", "::mlir::OperandRange", "getExtents">,
    InterfaceMethod<"the inputs", "::mlir::OperandRange", "getInputs">,
    InterfaceMethod<"one #kernel.access per input", "::mlir::ArrayAttr", "getAccesses">,
    InterfaceMethod<"per input, the guard atoms that must all hold for it to be read", "::mlir::ArrayAttr", "getInputGuards">,
    InterfaceMethod<"the guard atoms that must all hold for a point to exist", "::llvm::ArrayRef<int64_t>", "getFilter">,
    InterfaceMethod<"the destinations", "::mlir::OperandRange", "getInits">,
    InterfaceMethod<"computes the guard atoms, empty without guards", "::mlir::Region &", "getGuards">,
    InterfaceMethod<"computes one element", "::mlir::Region &", "getBody">,
    InterfaceMethod<"name of the let or result it computes, if any", "::std::optional<::llvm::StringRef>", "getName">
  ];
  let extraSharedClassDeclaration = [{
    unsigned getNumIterators() { return $_op.getIteratorNames().size(); }
    unsigned getNumReduction() { return getNumIterators() - $_op.getNumParallel(); }
    ::llvm::StringRef getIteratorName(unsigned i) {
      return ::llvm::cast<::mlir::StringAttr>($_op.getIteratorNames()[i]).getValue();
    }
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedExtents() {
      return ::facet::kernel::mixedExtents($_op.getOperation());
    }
    ::facet::kernel::AccessAttr getAccess(unsigned input) {
      return ::llvm::cast<::facet::kernel::AccessAttr>($_op.getAccesses()[input]);
    }
    ::llvm::ArrayRef<int64_t> getGuardsOfInput(unsigned input) {
      return ::llvm::cast<::mlir::DenseI64ArrayAttr>($_op.getInputGuards()[input]).asArrayRef();
    }
    unsigned getNumGuardAtoms() {
      return $_op.getGuards().empty() ? 0 : $_op.getGuards().front().getTerminator()->getNumOperands();
    }
  }];
}

#endif
