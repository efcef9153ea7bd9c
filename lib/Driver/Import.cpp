//===- Import.cpp - `facet import` ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   facet import --einsum=ij,jk->ik                 prints the kernel
//   facet import layer.onnx -o layer.facet          writes it
//
// The other subcommands take what import takes, without a file between. This one shows
// what it became, to be read, kept and changed.
//
//===----------------------------------------------------------------------===//

#include "facet/Import/Import.h"
#include "MlirDiagnostics.h"
#include "Sources.h"
#include "facet/Driver/Array.h"
#include "facet/Frontend/Frontend.h"
#include "facet/Import/ImportLinalg.h"
#include "facet/Support/Outputs.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace facet;
using namespace facet::options;

/// What --fragments writes.
static std::string describe(const ImportedFragments &fragments) {
  std::string text;
  raw_string_ostream os(text);
  json::OStream out(os, /*IndentSize=*/2);
  auto list = [&](StringRef name, ArrayRef<ImportedTensor> tensors) {
    out.attributeArray(name, [&] {
      for (const ImportedTensor &one : tensors)
        out.object([&] {
          out.attribute("name", json::fixUTF8(one.name));
          out.attribute("tensor", json::fixUTF8(one.tensor));
        });
    });
  };
  out.object([&] {
    out.attributeArray("kernels", [&] {
      for (const ImportedFragment &fragment : fragments.kernels)
        out.object([&] {
          out.attribute("kernel", fragment.kernel);
          out.attributeArray("nodes", [&] {
            for (int node : fragment.nodes)
              out.value(node);
          });
          list("inputs", fragment.inputs);
          list("constants", fragment.constants);
          list("results", fragment.results);
        });
    });
    out.attributeArray("left", [&] {
      for (const ImportedLeft &entry : fragments.left)
        out.object([&] {
          out.attribute("node", entry.node);
          out.attribute("op", json::fixUTF8(entry.op));
          out.attribute("name", json::fixUTF8(entry.name));
          out.attribute("why", json::fixUTF8(entry.why));
        });
    });
  });
  os << "\n";
  return text;
}

ExitCode facet::runImport(Invocation &invocation) {
  const CommandLine &line = invocation.line;
  Diagnostics &diagnostics = invocation.diagnostics;
  if (line.inputs().empty()) {
    diagnostics.error(
        {},
        "nothing to import; give a .onnx or .mlir file or --einsum=ij,jk->ik");
    return ExitCode::Usage;
  }
  if (line.inputs().size() > 1) {
    diagnostics.error({}, "one thing at a time: import makes one file, " +
                              Twine(line.inputs().size()) + " are given");
    return ExitCode::Usage;
  }
  const std::string &input = line.inputs().front();
  std::optional<InputKind> kind = kindOf(input, invocation);
  if (!kind)
    return ExitCode::Rejected;
  std::optional<std::string> text;
  std::optional<StringRef> folder = line.value(OPT_weights);
  std::optional<StringRef> parts = line.value(OPT_fragments);
  std::vector<ImportedArray> arrays;
  std::optional<ImportedFragments> fragments;
  if (folder && *kind != InputKind::Onnx) {
    diagnostics.error({},
                      "'--weights' is for .onnx files, which hold constants");
    return ExitCode::Usage;
  }
  if (parts && *kind != InputKind::Onnx) {
    diagnostics.error({}, "'--fragments' is for .onnx files, whose nodes it "
                          "names");
    return ExitCode::Usage;
  }
  if (*kind == InputKind::Einsum) {
    text = importEinsum(input, *einsumOf(input), diagnostics);
  } else if (*kind == InputKind::Onnx && parts) {
    std::optional<std::string> bytes = readInput(input, diagnostics);
    if (bytes)
      fragments = importOnnxFragments(inputName(input, line), *bytes,
                                      diagnostics, folder.has_value());
    if (fragments)
      text = fragments->text;
  } else if (*kind == InputKind::Onnx) {
    if (std::optional<std::string> bytes = readInput(input, diagnostics))
      text = importOnnx(inputName(input, line), *bytes, diagnostics,
                        folder ? &arrays : nullptr);
  } else if (*kind == InputKind::Mlir) {
    std::optional<std::string> module = readInput(input, diagnostics);
    std::unique_ptr<mlir::MLIRContext> context = makeContext();
    MlirDiagnostics bridge(context.get(), diagnostics);
    mlir::OwningOpRef<mlir::ModuleOp> parsed;
    if (module)
      parsed = parseMlir(inputName(input, line), std::move(*module), *context,
                         diagnostics);
    if (parsed && hasTensorFunctions(*parsed))
      text = importLinalg(*parsed);
    else if (parsed)
      diagnostics.error({input},
                        "there is no function on tensors to import; the "
                        "other subcommands read this file as it is");
  } else {
    diagnostics.error(
        {input}, "import takes .onnx and .mlir files and --einsum=FORMULA; "
                 "the other subcommands read this one as it is");
  }
  if (!text)
    return ExitCode::Rejected;
  // The language may still refuse it, an odd last axis of int4 say: with the text to see.
  if (!parseAndCheck("imported.facet", *text, {}, diagnostics))
    return ExitCode::Rejected;
  Outputs outputs;
  if (std::string *contents = outputs.add(line.value(OPT_output).value_or("-"),
                                          line.inputs(), diagnostics))
    *contents = std::move(*text);
  if (fragments) {
    if (std::string *contents = outputs.add(*parts, line.inputs(), diagnostics))
      *contents = describe(*fragments);
    // Two kernels may have arguments of one name.
    for (ImportedFragment &fragment : fragments->kernels)
      for (ImportedArray &array : fragment.arrays) {
        array.name = fragment.kernel + "." + array.name;
        arrays.push_back(std::move(array));
      }
  }
  for (ImportedArray &array : arrays) {
    SmallString<128> path(*folder);
    sys::path::append(path, array.name + ".npy");
    if (std::string *contents = outputs.add(path, line.inputs(), diagnostics))
      *contents = writeNpy(Array{array.type,
                                 {array.shape.begin(), array.shape.end()},
                                 std::move(array.bytes)});
  }
  outputs.commit(diagnostics);
  return ExitCode::Ok;
}
