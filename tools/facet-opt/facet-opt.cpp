//===- facet-opt.cpp - runs passes on IR, for tests and debugging ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's optimiser driver, told about Facet's dialects and passes. Files are read
// and written as the other tools do it: MLIR's own driver maps inputs into memory,
// where a file that shrinks is a crash, and writes into the output itself, where a
// full disk or a failing pass leaves half of it.
//
//===----------------------------------------------------------------------===//

#include "facet/InitAll.h"
#include "facet/Support/Outputs.h"
#include "facet/Support/Process.h"
#include "facet/Support/ReadFile.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#ifdef FACET_TEST_PASSES
#include "TestPasses.h"
#endif

/// Prints `facet-opt: error: file: problem`.
static int fail(llvm::StringRef file, const llvm::Twine &problem) {
  llvm::errs() << "facet-opt: error: " << file << ": " << problem << '\n';
  return 1;
}

static int run(llvm::StringRef inputFile, llvm::StringRef outputFile,
               mlir::DialectRegistry &registry) {
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(llvm::outs(), nullptr, registry, config));
  std::string problem;
  std::optional<std::string> text = facet::readWholeFile(inputFile, problem);
  if (!text)
    return fail(inputFile, problem);
  facet::Diagnostics refused;
  facet::Outputs outputs;
  std::string *result = outputs.add(outputFile, {inputFile.str()}, refused);
  if (!result)
    return fail(outputFile, refused.all().front().message);
  llvm::raw_string_ostream os(*result);
  // Its name is what -split-input-file and messages show.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(
      *text, inputFile == "-" ? "<stdin>" : inputFile);
  bool failed =
      mlir::failed(mlir::MlirOptMain(os, std::move(buffer), registry, config));
  if (failed && outputFile != "-")
    return 1; // standard output shows the parts that went well
  if (std::optional<facet::Outputs::Failure> failure = outputs.tryCommit())
    return fail(failure->path,
                llvm::StringRef(failure->code.message()).lower());
  return failed ? 1 : 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  facet::meetLimits("facet-opt");
  mlir::DialectRegistry registry;
  facet::registerAllDialects(registry);
  facet::registerAllPasses();
#ifdef FACET_TEST_PASSES
  facet::test::registerTestPasses();
#endif
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Facet's optimiser driver\n", registry);
  return run(input, output, registry);
}
