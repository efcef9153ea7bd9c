//===- EngineTypes.td - tiles and rings -----------------------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_ENGINE_IR_ENGINETYPES_TD
#define FACET_DIALECT_ENGINE_IR_ENGINETYPES_TD

include "facet/Dialect/Engine/IR/EngineDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Engine_Memory : I32EnumAttr<"Memory", "where a tile lies", [
    I32EnumAttrCase<"Hbm", 0, "hbm">, I32EnumAttrCase<"Sbuf", 1, "sbuf">,
    I32EnumAttrCase<"Psum", 2, "psum">, I32EnumAttrCase<"Index", 3, "index">]> {
  let cppNamespace = "::facet::engine";
}

class Engine_Type<string name, string typeMnemonic> : TypeDef<EngineDialect, name> {
  let mnemonic = typeMnemonic;
}

def Engine_TileType : Engine_Type<"Tile", "tile"> {
  let summary = "rows of elements in one memory";
  let description = [{
    `!engine.tile<128x4x512xbf16, sbuf>`: 128 rows (partitions on chip) of 4 × 512
    elements. The first dimension counts rows, up to four others lie inside a row;
    how far apart elements lie is a matter of the view. A whole buffer in HBM has the
    dimensions its kernel gives it, rows or not. In `index`, elements are the numbers
    themselves (i64).
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        "::facet::engine::Memory":$memory);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape().front(); }
    /// Elements of one row.
    int64_t getRowElements() const;
    /// Of all elements, dense: for the whole buffer of this type.
    int64_t getElements() const { return getRows() * getRowElements(); }
    int64_t getRowBytes() const;
  }];
}

def Engine_RingType : Engine_Type<"Ring", "ring"> {
  let summary = "a row of equal tiles, used in turn";
  let description = [{
    `!engine.ring<3 x 128x512xbf16, sbuf>`: three slots. The element written by the
    n-th commit is the one read after the n-th wait; slot n mod 3 holds it.
  }];
  let parameters = (ins "int64_t":$depth, "::facet::engine::TileType":$tile);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif
