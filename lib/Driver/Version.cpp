//===- Version.cpp - what `--version` prints ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line that names us, then what a bug report needs. Nothing is looked up at
// run time, so the answer is instant.
//
//===----------------------------------------------------------------------===//

#include "facet/Driver/BuildConfig.h"
#include "facet/Driver/Help.h"
#include "facet/Driver/Revision.inc"
#include "facet/Target/Target.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace facet;

StringRef facet::versionNumber() { return FACET_VERSION; }

std::string facet::defaultTriple() { return LLVM_DEFAULT_TARGET_TRIPLE; }

void facet::printVersion(bool json, raw_ostream &os) {
#ifdef FACET_REVISION
  StringRef commit = FACET_REVISION;
#else
  StringRef commit = "unknown";
#endif
  std::vector<StringRef> names;
  for (const Target &target : targets())
    names.push_back(target.name);

  if (json) {
    json::OStream out(os, /*IndentSize=*/2);
    out.object([&] {
      out.attribute("build", FACET_BUILD_TYPE);
      out.attribute("commit", commit);
      out.attribute("compiler", FACET_COMPILER);
      out.attribute("llvm", LLVM_VERSION_STRING);
      out.attributeArray("targets", [&] {
        for (StringRef name : names)
          out.value(name);
      });
      out.attribute("triple", defaultTriple());
      out.attribute("version", versionNumber());
    });
    os << "\n";
    return;
  }
  os << "facet " << versionNumber() << "\n"
     << "commit:  " << commit << "\n"
     << "LLVM:    " << LLVM_VERSION_STRING << "\n"
     << "triple:  " << defaultTriple() << "\n"
     << "targets: " << join(names, " ") << "\n"
     << "build:   " << FACET_BUILD_TYPE << ", " << FACET_COMPILER << "\n";
}
