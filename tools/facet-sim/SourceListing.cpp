//===- SourceListing.cpp - a program beside its kernel's source -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a line to its instructions, and from an instruction to its line:
//
//   // k.facet
//   //   1 | kernel scale(x: f32[M]) -> y: f32[M] {
//   //   2 |   y[m] = 2 * x[m]                        sync 0-4, vector 0-3
//   //   3 | }
//   .program 1
//   …
//   .queue vector
//     // from 0, k.facet:2:3: y[m] = 2 * x[m]
//     loop trips=8
//
// Everything added is a comment, so the text still assembles to the same bytes. The
// numbers are those that --explain and messages use.
//
//===----------------------------------------------------------------------===//

#include "SourceListing.h"

#include "facet/Isa/Assembler.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace facet;
using llvm::StringRef;

namespace {

/// The lines of one source, as far as it can be read.
struct Source {
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  llvm::SmallVector<StringRef, 0> lines;

  /// Lines count from 1.
  StringRef line(unsigned number) const {
    return number && number <= lines.size() ? lines[number - 1] : "";
  }
};

class Listing {
public:
  Listing(const Program &program, Diagnostics &diags) : program(program) {
    for (const Queue &queue : program.queues)
      for (uint32_t place : queue.locations)
        if (place)
          read(program.locations[place - 1].file, diags);
  }
  void printSources(llvm::raw_ostream &os) const;
  std::string comment(unsigned queue, unsigned pc) const;

private:
  void read(const std::string &file, Diagnostics &diags);
  std::string instructionsOf(StringRef file, unsigned line) const;
  const Location *place(const Queue &queue, size_t pc) const {
    uint32_t place = queue.locations[pc];
    return place ? &program.locations[place - 1] : nullptr;
  }

  const Program &program;
  std::map<std::string, Source> sources;
};

} // namespace

void Listing::read(const std::string &file, Diagnostics &diags) {
  auto [at, isNew] = sources.try_emplace(file);
  if (!isNew)
    return;
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer) {
    diags.remark("", {file},
                 "cannot be read: its lines are not shown, only their numbers");
    return;
  }
  at->second.buffer = std::move(*buffer);
  at->second.buffer->getBuffer().split(at->second.lines, '\n');
  if (at->second.lines.back().empty())
    at->second.lines.pop_back();
}

/// "tensor 3-9, sync 0-4, 7".
std::string Listing::instructionsOf(StringRef file, unsigned line) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Queue &queue : program.queues) {
    bool first = true;
    for (size_t pc = 0; pc != queue.code.size(); ++pc) {
      auto isHere = [&](size_t at) {
        const Location *found = place(queue, at);
        return found && found->file == file && found->line == line;
      };
      if (!isHere(pc))
        continue;
      size_t last = pc;
      while (last + 1 != queue.code.size() && isHere(last + 1))
        ++last;
      os << (!first ? ", " : text.empty() ? "" : "; ");
      if (first)
        os << engineName(queue.engine) << ' ';
      os << pc;
      if (last != pc)
        os << '-' << last;
      first = false;
      pc = last;
    }
  }
  return text;
}

void Listing::printSources(llvm::raw_ostream &os) const {
  for (const auto &[name, source] : sources) {
    if (!source.buffer)
      continue;
    size_t widest = 0;
    for (StringRef line : source.lines)
      widest = std::max(widest, line.size());
    widest = std::min<size_t>(widest, 80);
    os << "// " << name << '\n';
    for (auto [i, line] : llvm::enumerate(source.lines)) {
      std::string instructions = instructionsOf(name, unsigned(i) + 1);
      os << llvm::format("// %4zu | ", i + 1);
      if (instructions.empty())
        os << line.rtrim();
      else
        os << llvm::left_justify(line.rtrim(), unsigned(widest)) << "  "
           << instructions;
      os << '\n';
    }
  }
}

std::string Listing::comment(unsigned queue, unsigned pc) const {
  const Queue &code = program.queues[queue];
  const Location *here = place(code, pc);
  const Location *before = pc ? place(code, pc - 1) : nullptr;
  if (!here || (before && before->file == here->file &&
                before->line == here->line && before->column == here->column))
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "from " << pc << ", " << here->file << ':' << here->line << ':'
     << here->column;
  StringRef line = sources.at(here->file).line(here->line).trim();
  if (!line.empty())
    os << ": " << line;
  return text;
}

void sim::printWithSource(const Program &program, StringRef file,
                          llvm::raw_ostream &os, Diagnostics &diags) {
  Listing listing(program, diags);
  bool any = llvm::any_of(program.queues, [](const Queue &queue) {
    return llvm::any_of(queue.locations, [](uint32_t place) { return place; });
  });
  if (!any)
    diags.remark("", {file.str()}, "its instructions name no source");
  listing.printSources(os);
  disassemble(program, os, [&](unsigned queue, unsigned pc) {
    return listing.comment(queue, pc);
  });
}
