//===- EngineDialect.td - the engine dialect ------------------*- tablegen -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACET_DIALECT_ENGINE_IR_ENGINEDIALECT_TD
#define FACET_DIALECT_ENGINE_IR_ENGINEDIALECT_TD

include "mlir/IR/OpBase.td"

def EngineDialect : Dialect {
  let name = "engine";
  let cppNamespace = "::facet::engine";
  let summary = "a program of the matrix engine, before it falls into queues";
  let description = [{
    One text in one order: loops, tiles, and instructions that say which engine runs
    them. Each engine gets its own part of it as a queue; what orders the queues is
    said by rings alone. A ring is a row of equal tiles in SBUF or PSUM. One engine (or
    the DMA) fills a slot between `acquire` and `commit`; others read it between `wait`
    and `release`. Semaphores, slots and the values to wait for follow from the four.

    ```mlir
    engine.program @double machine "trn2" {
      %x = engine.buffer "x" in : !engine.tile<128x512xf32, hbm>
      %y = engine.buffer "y" out : !engine.tile<128x512xf32, hbm>
      %xs = engine.ring "xs" : !engine.ring<2 x 128x64xf32, sbuf>
      %ys = engine.ring "ys" : !engine.ring<2 x 128x64xf32, sbuf>
      engine.for %i = 8 {
        %xv = engine.view %x[%i] at affine_map<(i) -> (i * 64)> row_step 512
            : !engine.tile<128x512xf32, hbm> to !engine.tile<128x64xf32, hbm>
        %yv = engine.view %y[%i] at affine_map<(i) -> (i * 64)> row_step 512
            : !engine.tile<128x512xf32, hbm> to !engine.tile<128x64xf32, hbm>
        %a = engine.acquire %xs : <2 x 128x64xf32, sbuf>
        engine.issue sync "dma_copy"(dst = %a, src = %xv) : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, hbm>
        engine.commit %xs : <2 x 128x64xf32, sbuf>
        %b = engine.wait %xs : <2 x 128x64xf32, sbuf>
        %c = engine.acquire %ys : <2 x 128x64xf32, sbuf>
        engine.issue vector "tensor_tensor"(dst = %c, a = %b, b = %b) {op = "add"}
            : !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>, !engine.tile<128x64xf32, sbuf>
        engine.commit %ys : <2 x 128x64xf32, sbuf>
        engine.release %xs : <2 x 128x64xf32, sbuf>
        %d = engine.wait %ys : <2 x 128x64xf32, sbuf>
        engine.issue sync "dma_copy"(dst = %yv, src = %d) : !engine.tile<128x64xf32, hbm>, !engine.tile<128x64xf32, sbuf>
        engine.release %ys : <2 x 128x64xf32, sbuf>
      }
    }
    ```

    Loops stay loops to the end, so the size of a program follows from its text and
    never from trip counts.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class Engine_Op<string mnemonic, list<Trait> traits = []>
    : Op<EngineDialect, mnemonic, traits>;

#endif
