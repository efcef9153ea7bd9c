//===- frontend-fuzzer.cpp - any bytes as source text -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes: no crash, no hang, and an error for everything that is
// not accepted. What parses is formatted; the formatted text is its own
// formatting and means the same, to the last conversion.
//
//===----------------------------------------------------------------------===//

#include "facet/Frontend/Frontend.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace facet;

static void require(bool holds, const char *what) {
  if (holds)
    return;
  llvm::errs() << "violated: " << what << '\n';
  std::abort();
}

/// The checked form of `text`, or nothing when it is refused.
static std::optional<std::string> checkedForm(llvm::StringRef text) {
  Diagnostics diagnostics;
  auto module = parseAndCheck("fuzz.facet", text.str(), {}, diagnostics);
  require(bool(module) != diagnostics.hasErrors(), "refused means an error");
  std::string discarded;
  llvm::raw_string_ostream messages(discarded);
  for (auto format : {DiagnosticFormat::Text, DiagnosticFormat::Json,
                      DiagnosticFormat::Sarif})
    renderDiagnostics(diagnostics, format, /*colour=*/false, messages);
  if (!module)
    return std::nullopt;
  std::string form;
  llvm::raw_string_ostream os(form);
  for (const auto &kernel : module->kernels)
    print(*kernel, os);
  for (const syntax::Schedule &schedule : module->schedules)
    print(schedule, os);
  return form;
}

static bool hasImport(llvm::StringRef text) {
  Diagnostics diagnostics;
  for (const syntax::Item &item :
       syntax::parse("fuzz.facet", text, diagnostics).items)
    if (std::holds_alternative<syntax::Import>(item))
      return true;
  return false;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  Diagnostics diagnostics;
  std::optional<std::string> formatted =
      formatSource("fuzz.facet", text.str(), diagnostics);
  require(formatted.has_value() != diagnostics.hasErrors(),
          "unformatted means an error");
  if (formatted) {
    Diagnostics again;
    std::optional<std::string> twice =
        formatSource("formatted.facet", *formatted, again);
    require(twice.has_value(), "formatted text parses");
    require(*twice == *formatted, "formatting twice changes nothing");
  }
  // Imports would read the files of whoever runs this.
  if (hasImport(text))
    return 0;
  std::optional<std::string> form = checkedForm(text);
  if (form)
    require(formatted && checkedForm(*formatted) == form,
            "formatting keeps the meaning");
  return 0;
}
