//===- program-fuzzer.cpp - forged .engine files --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input is read as a file, and also as edits to a good one, with its
// checksums made right again:
//
//   byte 0        which random program
//   5 bytes each  where (4), new value (1)
//
// What the reader accepts must survive text and back, byte for byte, and can be
// timed.
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"
#include "Reseal.h"

#include "facet/Isa/Assembler.h"
#include "facet/Isa/Container.h"
#include "facet/Isa/Timing.h"
#include "facet/Sim/Time.h"

#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace facet;

static void tryFile(const std::vector<uint8_t> &file) {
  Diagnostics diags;
  std::optional<Program> program = readProgram(file, "f", diags);
  if (bool(program) == diags.hasErrors())
    std::abort();
  (void)listSections(file);
  if (!program)
    return;
  Timing timing(program->machine);
  for (unsigned q = 0; q != program->queues.size(); ++q)
    for (const Instruction &i : program->queues[q].code)
      (void)timing.cost(*program, q, i);
  sim::TimeOptions options;
  options.record = true;
  options.maxSteps = 2000;
  sim::TimeResult time = sim::timeProgram(*program, options);
  for (const sim::EngineTime &engine : time.engines)
    if (engine.sum() != time.total)
      std::abort();
  std::string text;
  llvm::raw_string_ostream os(text);
  disassemble(*program, os);
  std::optional<Program> again = assemble(text, "t", diags);
  if (!again || writeProgram(*again) != writeProgram(*program))
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::vector<std::vector<uint8_t>> bases = [] {
    std::vector<std::vector<uint8_t>> files;
    for (uint64_t seed = 0; seed != 16; ++seed) {
      Program program =
          test::randomProgram(test::shippedMachine(seed % 2 ? "trn3" : "trn2"),
                              seed, unsigned(seed % 6));
      files.push_back(writeProgram(program));
    }
    return files;
  }();
  tryFile(std::vector<uint8_t>(data, data + size));
  if (!size)
    return 0;
  std::vector<uint8_t> file = bases[data[0] % bases.size()];
  for (size_t at = 1; at + 5 <= size && at < 100; at += 5) {
    uint32_t where;
    std::memcpy(&where, data + at, 4);
    file[where % file.size()] = data[at + 4];
  }
  test::reseal(file);
  tryFile(file);
  return 0;
}
