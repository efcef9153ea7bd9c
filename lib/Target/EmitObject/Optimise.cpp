//===- Optimise.cpp - LLVM's passes before code generation ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   quick      what makes less work for code generation
//   plain      LLVM's own level 1: loops in scalars, which are all the judge has
//   thorough   a pipeline of our own
//
// Code of the CPU road is vectors in loops already: what LLVM is for is the
// arithmetic around them. Addresses are built anew at every use and are moved out
// of loops and shared; what a call asks of its sizes is folded where sizes are
// fixed; loops of a few steps over sums on the stack are unrolled until no sum
// rests there. LLVM's level 2 does that, too, and asks a dozen questions more
// (of ranges, of jumps, of dead stores, three times over), which took as long as
// all of code generation. Most kernels are as fast without; a loop that decodes f8
// number by number and a product of bytes in AVX2 are some percent slower.
//
//===----------------------------------------------------------------------===//

#include "Optimise.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"

using namespace facet;

/// In the words of LLVM's `opt -passes=`.
static constexpr llvm::StringLiteral thorough =
    // What a call of fixed sizes hands to its functions.
    "globaldce,ipsccp,"
    // Functions that are called once, and small ones.
    "cgscc(inline),globaldce,"
    "function("
    "sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    // Addresses out of loops; loops of a few steps unrolled.
    "loop-mssa(loop-rotate,licm,simple-loop-unswitch<no-nontrivial;trivial>),"
    "simplifycfg,loop(indvars,loop-deletion,loop-unroll-full),"
    // Sums that rested on the stack for an unrolled loop; then what is left over.
    "sroa,gvn,instcombine<no-verify-fixpoint>,loop-mssa(licm),adce,"
    "simplifycfg),"
    "globaldce";

void facet::optimise(llvm::Module &module, llvm::TargetMachine &machine,
                     CodeEffort effort) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  llvm::ModulePassManager passes;
  switch (effort) {
  case CodeEffort::Quick:
    passes.addPass(
        llvm::createModuleToFunctionPassAdaptor(llvm::EarlyCSEPass()));
    break;
  case CodeEffort::Plain:
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1);
    break;
  case CodeEffort::Thorough:
    llvm::cantFail(builder.parsePassPipeline(passes, thorough));
    break;
  }
  passes.run(module, modules);
}
