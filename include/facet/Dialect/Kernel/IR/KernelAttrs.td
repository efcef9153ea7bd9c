//===- KernelAttrs.td - axes, parameters, accesses, kinds -----*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_KERNEL_IR_KERNELATTRS_TD
#define FACET_DIALECT_KERNEL_IR_KERNELATTRS_TD

include "facet/Dialect/Kernel/IR/KernelDialect.td"
include "facet/Dialect/Kernel/IR/PlanInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Kernel_Attr<string name, string attrMnemonic>
    : AttrDef<KernelDialect, name> {
  let mnemonic = attrMnemonic;
}

def Kernel_ReduceKind : I32EnumAttr<"ReduceKind", "how values are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Any", 3, "any">,
    I32EnumAttrCase<"All", 4, "all">, I32EnumAttrCase<"Argmax", 5, "argmax">,
    I32EnumAttrCase<"Argmin", 6, "argmin">]> {
  let cppNamespace = "::facet::kernel";
}

def Kernel_ParamMode : I32EnumAttr<"ParamMode", "what a parameter is for", [
    I32EnumAttrCase<"In", 0, "in">, I32EnumAttrCase<"Const", 1, "const">,
    I32EnumAttrCase<"Inout", 2, "inout">, I32EnumAttrCase<"Out", 3, "out">]> {
  let cppNamespace = "::facet::kernel";
}

def Kernel_CastMode : I32EnumAttr<"CastMode", "what a conversion may do to a value", [
    I32EnumAttrCase<"Exact", 0, "exact">,   // widening, storage to arithmetic, i1 to 0/1
    I32EnumAttrCase<"Round", 1, "round">,   // to float: nearest even, overflow to inf (f8e4m3fn: NaN)
    I32EnumAttrCase<"RoundSat", 2, "round_sat">, // the same, clamped to the largest finite value
    I32EnumAttrCase<"Wrap", 3, "wrap">,     // integer to integer, modulo 2^n
    I32EnumAttrCase<"Sat", 4, "sat">]> {    // to integer, clamped; from float: nearest even, NaN to 0
  let cppNamespace = "::facet::kernel";
}

def Kernel_Function : I32EnumAttr<"ScalarFunction", "functions that arith and math lack", [
    I32EnumAttrCase<"Relu", 0, "relu">, I32EnumAttrCase<"Sigmoid", 1, "sigmoid">,
    I32EnumAttrCase<"Silu", 2, "silu">, I32EnumAttrCase<"Gelu", 3, "gelu">,
    I32EnumAttrCase<"GeluTanh", 4, "gelu_tanh">]> {
  let cppNamespace = "::facet::kernel";
}

def Kernel_AxisAttr : Kernel_Attr<"Axis", "axis"> {
  let summary = "one axis in memory: a size, a number, or a group of them";
  let description = [{
    `#kernel.axis<M>`, `#kernel.axis<128>`, `#kernel.axis<(Q, 128)>`. A group is one
    axis of the product of its dimensions in memory and in the C interface, and as
    many dimensions in the tensor type. Each dimension is a StringAttr (the name of a
    size of the kernel) or an i64 IntegerAttr.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Attribute">:$dims);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Kernel_ParamAttr : Kernel_Attr<"Param", "param"> {
  let summary = "name, use and axes of one parameter of a kernel";
  let parameters = (ins "::mlir::StringAttr":$name, "::facet::kernel::ParamMode":$mode,
                        ArrayRefParameter<"::facet::kernel::AxisAttr">:$axes);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// All dimensions, groups flattened: one per dimension of the tensor.
    ::llvm::SmallVector<::mlir::Attribute> getDims() const;
  }];
}

def Kernel_AccessAttr : Kernel_Attr<"Access", "access"> {
  let summary = "which element of an input one point of the iteration reads";
  let description = [{
    One subscript per dimension of the input: an iterator (by position), a number,
    or the element read of an earlier input of the same op: a gather, or an integer
    scalar argument used as a subscript. Printed inside the op with the names of the
    iterators; on its own as `#kernel.access<[d0, 3, e1]>`: iterator 0, the number 3,
    the element of input 1.
  }];
  let parameters = (ins ArrayRefParameter<"::facet::kernel::Subscript">:$subscripts);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The access as an affine map of iterators and numbers; null with a gather.
    ::mlir::AffineMap getMap(unsigned numIterators) const;
    bool hasGather() const;
  }];
}

def Kernel_ReferencePlanAttr : AttrDef<KernelDialect, "ReferencePlan",
    [DeclareAttrInterfaceMethods<Kernel_PlanAttrInterface>]> {
  let mnemonic = "reference_plan";
  let summary = "the one plan of the reference road";
  let description = [{
    `#kernel.reference_plan`: every statement is a stage of its own, computed in the
    order of the text by plain loops and stored whole. There is nothing to choose, so a
    schedule for "reference" has no clauses.
  }];
}

#endif
