//===- PlanAttrs.td - how a kernel is computed on an engine ---*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_ENGINE_IR_PLANATTRS_TD
#define FACET_DIALECT_ENGINE_IR_PLANATTRS_TD

include "facet/Dialect/Engine/IR/EngineAttrs.td"

def Engine_Form : I32EnumAttr<"Form", "how the ops of a stage are computed", [
    I32EnumAttrCase<"Tiles", 0, "tiles">,            // on vector and scalar, tile by tile
    I32EnumAttrCase<"Contraction", 1, "contraction">, // on the tensor engine
    I32EnumAttrCase<"Attention", 2, "attention">      // two contractions and the softmax between
    ]> {
  let cppNamespace = "::facet::engine";
  let genSpecializedAttr = 0;
}

def Engine_Side : I32EnumAttr<"Side", "a factor of a product, as the text writes it", [
    I32EnumAttrCase<"A", 0, "a">, I32EnumAttrCase<"B", 1, "b">]> {
  let cppNamespace = "::facet::engine";
  let genSpecializedAttr = 0;
}

def Engine_Load : I32EnumAttr<"Load", "how a factor comes from HBM with k on the partitions", [
    I32EnumAttrCase<"Copy", 0, "copy">,          // dma_copy: rows where k is not dense, else elements
    I32EnumAttrCase<"Transpose", 1, "transpose"> // dma_transpose
    ]> {
  let cppNamespace = "::facet::engine";
  let genSpecializedAttr = 0;
}

class Engine_PlanPart<string name, string attrMnemonic> : AttrDef<EngineDialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

def Engine_ContractionAttr : Engine_PlanPart<"Contraction", "contraction"> {
  let summary = "the choices for one sum of products";
  let description = [{
    `Σ_k a[m, k] · b[k, n]`. Rows are those of the stationary factor, whose elements
    become partitions of PSUM; columns are those of the other one, which streams.

    | parameter | meaning |
    | --- | --- |
    | `stationary` | the factor that the array holds as weights |
    | `outer` | the factor whose blocks the outer loop runs over |
    | `stays` | a block of the outer factor, over all of k, is loaded once and stays in SBUF while blocks of the other pass; else both are loaded for each block of sums |
    | `row_tile`, `column_tile` | sums that one matmul makes |
    | `row_block`, `column_block` | sums held in PSUM at once; multiples of the tile |
    | `depth_block` | elements of k that one transfer loads of a factor and one slot of its ring holds; a multiple of the array's rows |
    | `a_slots`, `b_slots` | slots of the factors' rings |
    | `sum_slots` | slots of the ring of sums: tiles, each in banks of PSUM |
    | `result_slots` | slots of the ring of results on their way to HBM |
    | `unroll` | steps along k, or pairs of them, written out in a loop over them |
    | `a_load`, `b_load` | how the factors come from HBM |
    | `double_row` | two steps of 8-bit elements are taken at once |
    | `first_depth`, `last_depth` | `depth_block` of the first and last part of k; 0: the same. A short first part lets products begin early, a long last one spreads what follows the sums, a short one ends soon after the last transfer |
    | `warm_up` | products of zeros before the first transfer has come, which bring the array's clock to its full rate |
    | `evict` | the engine that copies sums out of PSUM where nothing is computed on them first: `vector` or `scalar` |
    | `scalar_tiles` | tiles of a block, the first ones, that scalar copies instead |
    | `k_runs` | neighbours along k go to neighbouring steps instead of neighbouring partitions: what one partition gets of a narrow factor is one run in HBM |
    | `batch_block` | products of small matrices, along the last axis of the batch, that are loaded by one transfer and stored by one; their sums share banks of PSUM |
    | `whole` | what stays is loaded by one transfer, into one slot |
    | `store_tiles` | tiles that one transfer stores where nothing is computed on them |
    | `sum_depth` | elements of k whose products PSUM sums before gpsimd adds them to the others as integers, in SBUF; a multiple of the array's rows; 0: all |
    | `end_depth` | `depth_block` of the last part of k in the last block, which is then written out apart: short, so that little follows the last transfer, while all others are long; 0: no block differs. Needs `whole`, one block of the outer factor and no batch |
    | `keeps_results` | with `end_depth`: results of the blocks before the last stay in SBUF until every transfer of a factor is on its way, and sync stores them; it stores what vector copies of the last block as well |
    | `gpsimd_stores` | where vector and scalar copy sums, gpsimd triggers the stores of vector's tiles, and sync brings both factors |
  }];
  let parameters = (ins EnumParameter<Engine_Side>:$stationary, EnumParameter<Engine_Side>:$outer,
                        "bool":$stays, "int64_t":$row_tile, "int64_t":$column_tile,
                        "int64_t":$row_block, "int64_t":$column_block, "int64_t":$depth_block,
                        "int64_t":$a_slots, "int64_t":$b_slots, "int64_t":$sum_slots,
                        "int64_t":$result_slots, "int64_t":$unroll,
                        EnumParameter<Engine_Load>:$a_load, EnumParameter<Engine_Load>:$b_load,
                        EnumParameter<Engine_Queue>:$evict,
                        DefaultValuedParameter<"bool", "false">:$double_row,
                        DefaultValuedParameter<"int64_t", "0">:$first_depth,
                        DefaultValuedParameter<"int64_t", "0">:$last_depth,
                        DefaultValuedParameter<"int64_t", "0">:$warm_up,
                        DefaultValuedParameter<"int64_t", "0">:$scalar_tiles,
                        DefaultValuedParameter<"int64_t", "1">:$store_tiles,
                        DefaultValuedParameter<"bool", "false">:$k_runs,
                        DefaultValuedParameter<"int64_t", "1">:$batch_block,
                        DefaultValuedParameter<"bool", "false">:$whole,
                        DefaultValuedParameter<"int64_t", "0">:$sum_depth,
                        DefaultValuedParameter<"bool", "false">:$gpsimd_stores,
                        DefaultValuedParameter<"int64_t", "0">:$end_depth,
                        DefaultValuedParameter<"bool", "false">:$keeps_results);
  // The others as they are by default.
  let builders = [AttrBuilder<(ins "::facet::engine::Side":$stationary, "::facet::engine::Side":$outer,
      "bool":$stays, "int64_t":$row_tile, "int64_t":$column_tile, "int64_t":$row_block,
      "int64_t":$column_block, "int64_t":$depth_block, "int64_t":$a_slots, "int64_t":$b_slots,
      "int64_t":$sum_slots, "int64_t":$result_slots, "int64_t":$unroll, "::facet::engine::Load":$a_load,
      "::facet::engine::Load":$b_load, "::facet::engine::QueueKind":$evict, CArg<"int64_t", "0">:$sum_depth), [{
    return Base::get($_ctxt, stationary, outer, stays, row_tile, column_tile, row_block, column_block,
                     depth_block, a_slots, b_slots, sum_slots, result_slots, unroll, a_load, b_load, evict,
                     false, 0, 0, 0, 0, 1, false, 1, false, sum_depth, false, 0, false);
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    ::facet::engine::Side getMoving() const {
      return getStationary() == Side::A ? Side::B : Side::A;
    }
    /// Tiles of a block of sums.
    int64_t getRowTiles() const { return getRowBlock() / getRowTile(); }
    int64_t getColumnTiles() const { return getColumnBlock() / getColumnTile(); }
    int64_t getSlots(::facet::engine::Side side) const {
      return side == Side::A ? getASlots() : getBSlots();
    }
    /// Steps of an array of `rows` rows in each part of k that is loaded at once, in the
    /// last block or in the others.
    ::llvm::SmallVector<int64_t> getGroups(int64_t depth, int64_t rows,
                                           bool isEnd = false) const;
    ::facet::engine::Load getLoad(::facet::engine::Side side) const {
      return side == Side::A ? getALoad() : getBLoad();
    }
  }];
}

def Engine_StageAttr : Engine_PlanPart<"Stage", "stage"> {
  let summary = "ops that are computed together";
  let description = [{
    `#engine.stage<tiles [3]>`: an op by its number among the structured ops of the
    kernel. `#engine.stage<contraction [0, 1] by <stationary = a, …>>`: the sum first,
    then the map that is computed on it as it leaves PSUM. `#engine.stage<attention [0, 1,
    2, 3, 4, 5]>`: a softmax between two contractions, with all that only it needs.
  }];
  let parameters = (ins EnumParameter<Engine_Form>:$form, ArrayRefParameter<"int64_t">:$ops,
                        OptionalParameter<"::facet::engine::ContractionAttr">:$contraction);
  let assemblyFormat = "`<` $form `[` $ops `]` (`by` $contraction^)? `>`";
}

def Engine_PlanAttr : Engine_PlanPart<"Plan", "plan"> {
  let summary = "how a kernel is computed on one matrix engine";
  let description = [{
    ```
    #engine.plan<"trn2", [<contraction [0, 1] by <stationary = a, outer = b, stays = true,
              row_tile = 128, column_tile = 512, row_block = 512, column_block = 512,
              depth_block = 512, a_slots = 12, b_slots = 16, sum_slots = 8, result_slots = 4,
              unroll = 16, a_load = copy, b_load = copy, evict = vector>>, <tiles [2]>]>
    ```

    The machine's name and the stages in order; every structured op of the kernel, whose
    sizes are all fixed, is in one stage. Made by the planner, overridden by a schedule,
    obeyed by the lowering, which finds it as the attribute `kernel.plan` of the kernel.
    The planner's library attaches PlanAttrInterface to it.
  }];
  let parameters = (ins StringRefParameter<>:$machine,
                        ArrayRefParameter<"::facet::engine::StageAttr">:$stages);
  let assemblyFormat = "`<` $machine `,` `[` $stages `]` `>`";
}

#endif
