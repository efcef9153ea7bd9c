//===- Assembler.cpp - text to programs -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the text form, one statement per line. What an instruction may carry is
// looked up in the instruction table, so this file knows the grammar and no
// opcode:
//
//   matmul dst=psum.f32[0:128, 0, 512], moving=..., start, update(done += 1)
//   ^ opcodeByMnemonic  ^ operand        ^ operand   ^ flag  ^ synchronisation
//
// An error ends its line and reading goes on with the next, so that one run shows
// all mistakes. The result then passes the same checks and the same canonical
// form as a file.
//
//===----------------------------------------------------------------------===//

#include "facet/Isa/Assembler.h"

#include "AssemblerImpl.h"
#include "Format.h"

#include "facet/Isa/Check.h"

#include "llvm/ADT/StringExtras.h"

using namespace facet;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Small readers
//===----------------------------------------------------------------------===//

bool Assembler::expect(const char *punctuation) {
  if (lexer.take(punctuation))
    return true;
  return fail(Twine("want '") + punctuation + "' here, found " + lexer.found());
}

bool Assembler::integer(int64_t &value, int64_t min, int64_t max,
                        const Twine &what) {
  Place at = lexer.place();
  bool negative = lexer.take("-");
  uint64_t size = 0;
  if (!lexer.takeInteger(size))
    return fail("want " + what + " here, found " + lexer.found());
  __int128 full = negative ? -__int128(size) : __int128(size);
  if (full < min || full > max) {
    diags.error(at, what + " is " + (negative ? "-" : "") + Twine(size) +
                        ", allowed are " + Twine(min) + " to " + Twine(max));
    return false;
  }
  value = int64_t(full);
  return true;
}

bool Assembler::name(std::string &text, const Twine &what) {
  if (lexer.takeName(text))
    return true;
  return fail("want " + what + " here, found " + lexer.found());
}

bool Assembler::string(std::string &text, const Twine &what) {
  bool bad = false;
  if (lexer.takeString(text, bad))
    return true;
  if (bad)
    return fail(
        "the string has no end on its line, a bad escape or is not UTF-8");
  return fail("want " + what + " in quotes here, found " + lexer.found());
}

bool Assembler::list(std::vector<int64_t> &values) {
  if (!expect("["))
    return false;
  if (lexer.take("]"))
    return true;
  do {
    int64_t value;
    if (!integer(value, INT64_MIN / 2, INT64_MAX / 2, "a number"))
      return false;
    values.push_back(value);
  } while (lexer.take(","));
  return expect("]");
}

/// `i3`, `r0`, `s12`: a letter and a number below `limit`, without leading zeros.
bool Assembler::number(StringRef word, char letter, unsigned limit,
                       unsigned &value) {
  return word.size() > 1 && word[0] == letter &&
         !word.drop_front().getAsInteger(10, value) && value < limit &&
         Twine(value).str() == word.drop_front();
}

bool Assembler::unknown(StringRef word, const Twine &what,
                        llvm::ArrayRef<StringRef> allowed) {
  unsigned best = std::max<unsigned>(2, word.size() / 3) + 1;
  StringRef nearest;
  for (StringRef candidate : allowed)
    if (unsigned distance = word.edit_distance(candidate, true, best);
        distance < best) {
      best = distance;
      nearest = candidate;
    }
  std::string message = ("no " + what + " is called '" + word + "'").str();
  if (!nearest.empty())
    message += ("; did you mean '" + nearest + "'?").str();
  else if (allowed.size() <= 16 && !allowed.empty())
    message += "; there are " + llvm::join(allowed, ", ");
  return failName(message);
}

bool Assembler::finishLine() {
  if (lexer.atLineEnd())
    return true;
  return fail("want the end of the line here, found " + lexer.found());
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

bool Assembler::statement() {
  return lexer.peek() == '.' ? directive() : instruction();
}

std::optional<Program> Assembler::run() {
  unsigned before = diags.errorCount();
  if (!lexer.checkText())
    return std::nullopt;
  for (; !lexer.atEnd() && !diags.limitReached(); lexer.nextLine())
    if (!lexer.atLineEnd())
      (void)statement();
  if (diags.errorCount() == before && !openLoops.empty())
    diags.error(places[unsigned(engine)][openLoops.back()],
                "a loop without end");
  if (diags.errorCount() == before && !haveMachine)
    diags.error({file.str()}, "no machine; start with .machine \"trn2\", say");
  if (diags.errorCount() != before)
    return std::nullopt;
  auto placeOf = [&](unsigned queue, int pc) {
    const std::vector<Place> &of =
        places[unsigned(program.queues[queue].engine)];
    return pc >= 0 && size_t(pc) < of.size() ? of[size_t(pc)]
                                             : Place{file.str()};
  };
  if (!checkProgram(program, diags, file, placeOf))
    return std::nullopt;
  (void)writeProgram(program); // canonical tables and build id
  return builder.finish();
}

std::optional<Program> facet::assemble(StringRef text, StringRef file,
                                       Diagnostics &diags) {
  return Assembler(text, file, diags).run();
}
