//===- RenderText.cpp - messages as a compiler prints them ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   k.facet:3:8: error: sizes begin with a capital: write `M` for `m`
//   kernel f(x: f32[m]) -> y: f32 { … }
//                   ^
//
// The caret line repeats the tabs of the source line, so that it fits at any
// tab width, and counts terminal columns, not bytes, after UTF-8 text. Bytes
// that are not UTF-8 and control characters are shown as `?`. Of a very long
// line only the neighbourhood of the place is shown.
//
//===----------------------------------------------------------------------===//

#include "RenderDiagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;
using llvm::raw_ostream;
using llvm::StringRef;

static constexpr size_t widestLine = 200; // bytes of source shown

static void inColour(raw_ostream &os, bool colour, raw_ostream::Colors which,
                     StringRef text) {
  if (colour)
    os.changeColor(which, /*Bold=*/true);
  os << text;
  if (colour)
    os.resetColor();
}

static raw_ostream::Colors colourOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return raw_ostream::RED;
  case Severity::Warning:
    return raw_ostream::MAGENTA;
  case Severity::Remark:
    return raw_ostream::BLUE;
  case Severity::Note:
    return raw_ostream::CYAN;
  }
  return raw_ostream::WHITE;
}

namespace {
/// A source line made printable, and for each byte the text that stands below
/// it in the caret line: tabs under tabs, spaces under the rest.
class ShownLine {
public:
  explicit ShownLine(StringRef source) {
    while (!source.empty()) {
      size_t length = llvm::getNumBytesForUTF8(source.front());
      const auto *from = reinterpret_cast<const llvm::UTF8 *>(source.begin());
      const auto *to = reinterpret_cast<const llvm::UTF8 *>(source.end());
      int width = 1;
      if (source.front() == '\t') {
        length = 1;
        text += '\t';
      } else if (length > source.size() ||
                 !llvm::isLegalUTF8Sequence(from,
                                            std::min(from + length, to))) {
        length = 1;
        text += '?';
      } else {
        width = llvm::sys::unicode::columnWidthUTF8(source.take_front(length));
        if (source.take_front(length) == "\xef\xbb\xbf")
          width = 0; // a byte order mark
        else if (width < 0)
          text += '?';
        else
          text += source.take_front(length);
        width = width < 0 ? 1 : width;
      }
      below.push_back(source.front() == '\t' ? "\t" : std::string(width, ' '));
      below.insert(below.end(), length - 1, "");
      source = source.drop_front(length);
    }
  }

  std::string text;
  std::vector<std::string> below;
};
} // namespace

static void showLine(raw_ostream &os, StringRef source, const Place &place,
                     bool colour) {
  size_t at = std::min<size_t>(place.column - 1, source.size());
  size_t end = place.endColumn > place.column ? place.endColumn - 1 : at + 1;
  size_t from = 0;
  if (source.size() > widestLine) {
    // Begin and end between characters, not inside one.
    auto inside = [&](size_t i) {
      return i < source.size() && (source[i] & 0xc0) == 0x80;
    };
    from = at > widestLine / 2 ? at - widestLine / 2 : 0;
    while (from < at && inside(from))
      ++from;
    size_t to = std::min(from + widestLine, source.size());
    while (to > at + 1 && inside(to))
      --to;
    source = source.slice(from, to);
  }
  at -= from;
  end -= from;
  ShownLine shown(source);
  os << shown.text << '\n';
  for (size_t i = 0; i < at; ++i)
    os << shown.below[i];
  std::string mark = "^";
  for (size_t i = at; i < std::min(end, shown.below.size()); ++i)
    mark += std::string(shown.below[i].size(), '~');
  if (mark.size() > 1)
    mark.pop_back();
  inColour(os, colour, raw_ostream::GREEN, mark);
  os << '\n';
}

static void show(raw_ostream &os, SourceLines &lines,
                 const Diagnostic &diagnostic, bool colour) {
  const Place &place = diagnostic.place;
  if (colour)
    os.changeColor(raw_ostream::SAVEDCOLOR, /*Bold=*/true);
  if (place.file.empty()) {
    os << "facet: ";
  } else {
    os << place.file << ':';
    if (place.line)
      os << place.line << ':' << place.column << ':';
    os << ' ';
  }
  if (colour)
    os.resetColor();
  inColour(os, colour, colourOf(diagnostic.severity),
           (severityName(diagnostic.severity) + ": ").str());
  os << diagnostic.message;
  if (!diagnostic.group.empty())
    os << " [-W" << diagnostic.group << ']';
  os << '\n';
  if (place.line && place.column)
    if (StringRef line = lines(place); !line.empty())
      showLine(os, line, place, colour);
  for (const Diagnostic &note : diagnostic.notes)
    show(os, lines, note, colour);
}

void facet::renderText(const Diagnostics &diagnostics, bool colour,
                       raw_ostream &os) {
  bool before = os.colors_enabled();
  os.enable_colors(colour);
  SourceLines lines(diagnostics);
  for (const Diagnostic &diagnostic : diagnostics.all())
    show(os, lines, diagnostic, colour);
  os.enable_colors(before);
}
