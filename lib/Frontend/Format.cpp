//===- Format.cpp - canonical text ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   kernel f( x:f32[ M ] )->y:f32[M]{y[m]=2*x[m]}
//   kernel f(x: f32[M]) -> y: f32[M] { y[m] = 2 * x[m] }
//
// Works on tokens, not on the tree, so that a comment stays behind the token it
// followed. The tokens are cut into lines of thought (a header, a statement, a
// closing brace); each is wrapped on its own at the outermost operator or comma
// that fits. Nothing but tokens, comments and blank lines decides, and all three
// survive, hence formatting twice changes nothing.
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"
#include "facet/Frontend/Frontend.h"
#include "llvm/ADT/STLExtras.h"

using namespace facet;
using llvm::StringRef;

static constexpr size_t widest = 110;
static constexpr size_t bodyIndent = 2, continuationIndent = 4;

namespace {

/// What stands on one line when there is room: tokens and comments among them.
struct Line {
  size_t indent = 0;
  bool blankBefore = false;
  std::vector<Token> tokens;
};

/// What a break costs; the cheapest is taken. Inside brackets it costs more.
constexpr unsigned headerBreak = 0, commaBreak = 1, operatorBreak = 2,
                   pipeBreak = 8, assignBreak = 15, perBracket = 10;

class Formatter {
public:
  explicit Formatter(Lexer &lexer) : lexer(lexer) { advance(); }

  std::string run();

private:
  void formatItem();
  std::vector<Line> cutBody();
  void comments(size_t indent);
  bool startsStatement();
  const Token &afterComments();

  void take(Line &line) {
    line.tokens.push_back(token);
    advance();
    // A comment on the same line belongs to the token before it.
    while (token.is(TokenKind::Comment) && !token.firstOnLine) {
      line.tokens.push_back(token);
      advance();
    }
  }
  void advance() {
    lastLine = token.span.line;
    if (!token.is(TokenKind::Comment))
      previous = token;
    token = lexer.next();
  }
  /// Whether the source has a blank line before the current token.
  bool blankBefore() const {
    return lastLine && token.span.line > lastLine + 1;
  }

  void write(const Line &line);
  void writeTokens(llvm::ArrayRef<Token> tokens, const Token *before,
                   unsigned depth, size_t indent);
  /// A statement goes deeper inside brackets, a header's list does not.
  size_t extraIndent(unsigned depth) const {
    return inBody ? depth * continuationIndent : 0;
  }
  void endLine() {
    while (!out.empty() && out.back() == ' ')
      out.pop_back();
    out += '\n';
    lineStart = out.size();
  }
  size_t column() const { return out.size() - lineStart; }

  Lexer &lexer;
  Token token, previous;
  Token behind; // the comments last looked past
  unsigned lastLine = 0;
  std::string out;
  size_t lineStart = 0;
  bool inBody = false; // of the line being written
};

} // namespace

std::optional<std::string> facet::formatSource(StringRef file, std::string text,
                                               Diagnostics &diagnostics) {
  unsigned before = diagnostics.errorCount();
  StringRef kept = diagnostics.addBuffer(file, std::move(text));
  syntax::parse(file, kept, diagnostics);
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  Lexer lexer(file, kept, diagnostics, /*keepComments=*/true);
  return Formatter(lexer).run();
}

//===----------------------------------------------------------------------===//
// Between two tokens
//===----------------------------------------------------------------------===//

static bool endsOperand(const Token &token) {
  switch (token.kind) {
  case TokenKind::Name:
  case TokenKind::Size:
  case TokenKind::Integer:
  case TokenKind::Float:
  case TokenKind::RightParen:
  case TokenKind::RightBracket:
    return true;
  case TokenKind::Keyword:
    return token.text == "inf" || token.text == "nan" || token.text == "true" ||
           token.text == "false";
  default:
    return false;
  }
}

static bool isOperator(const Token &token) {
  return token.kind >= TokenKind::Or && token.kind <= TokenKind::Percent;
}

/// A `-` or `!` in front of its operand.
static bool isPrefix(const Token *before, const Token &token) {
  return token.is(TokenKind::Not) ||
         (token.is(TokenKind::Minus) && !(before && endsOperand(*before)));
}

/// Whether a space stands between `left` and `right`; `before` is what stands
/// in front of `left`.
static bool spaceBetween(const Token *before, const Token &left,
                         const Token &right) {
  if (left.is(TokenKind::LeftParen) || left.is(TokenKind::LeftBracket) ||
      left.is(TokenKind::Dot) || isPrefix(before, left))
    return false;
  switch (right.kind) {
  case TokenKind::RightParen:
  case TokenKind::RightBracket:
  case TokenKind::Comma:
  case TokenKind::Colon:
  case TokenKind::Dot:
    return false;
  case TokenKind::LeftParen:
  case TokenKind::LeftBracket:
    return !(endsOperand(left) || left.is(TokenKind::Type) ||
             left.is(TokenKind::Function) || left.is(TokenKind::Reduction));
  default:
    return true;
  }
}

/// What it costs to break before `right`, without brackets; nullopt: never.
static std::optional<unsigned> breakCost(const Token &left, const Token &right,
                                         bool inBrackets) {
  if (right.is(TokenKind::Arrow) || right.is("requires") || right.is("when"))
    return headerBreak;
  if (left.is(TokenKind::Comma))
    return inBrackets ? 0 : commaBreak;
  if (left.is(TokenKind::Assign) && !inBrackets)
    return assignBreak;
  if (right.is(TokenKind::Pipe))
    return pipeBreak;
  if (!isOperator(right) || isPrefix(&left, right))
    return std::nullopt;
  switch (right.kind) {
  case TokenKind::Or:
    return operatorBreak;
  case TokenKind::And:
    return operatorBreak + 1;
  case TokenKind::Plus:
  case TokenKind::Minus:
    return operatorBreak + 3;
  case TokenKind::Star:
  case TokenKind::Slash:
  case TokenKind::Percent:
    return operatorBreak + 4;
  default: // comparisons
    return operatorBreak + 2;
  }
}

static bool opens(const Token &token) {
  return token.is(TokenKind::LeftParen) || token.is(TokenKind::LeftBracket);
}
static bool closes(const Token &token) {
  return token.is(TokenKind::RightParen) || token.is(TokenKind::RightBracket);
}

//===----------------------------------------------------------------------===//
// Cutting into lines
//===----------------------------------------------------------------------===//

std::string Formatter::run() {
  while (true) {
    comments(0);
    if (token.is(TokenKind::End))
      break;
    formatItem();
  }
  return std::move(out);
}

/// The comments that stand on lines of their own before the current token.
void Formatter::comments(size_t indent) {
  while (token.is(TokenKind::Comment)) {
    Line line{indent, blankBefore() && !out.empty(), {}};
    take(line);
    write(line);
  }
}

static bool isItem(const Token &token) {
  return token.is("kernel") || token.is("fn") || token.is("import") ||
         token.is("schedule");
}

/// One item, its comments inside included.
void Formatter::formatItem() {
  bool isKernel = token.is("kernel");
  Line header{0, blankBefore() && !out.empty(), {}};
  do {
    bool isOpen = token.is(TokenKind::LeftBrace);
    take(header);
    if (isOpen)
      break;
    // Comments before the next item belong to it.
    if (token.is(TokenKind::Comment) && endsOperand(previous)) {
      const Token &next = afterComments();
      if (next.is(TokenKind::End) || isItem(next))
        break;
    }
  } while (!token.is(TokenKind::End) && !isItem(token));
  bool hasBody = llvm::any_of(
      header.tokens, [](const Token &t) { return t.is(TokenKind::LeftBrace); });
  if (!hasBody) {
    write(header);
    return;
  }
  std::vector<Line> body = cutBody();
  Line close{0, false, {}};
  take(close); // `}`

  // Everything on one line when there is one statement and room.
  auto hasComment = [](const Line &line) {
    return llvm::any_of(
        line.tokens, [](const Token &t) { return t.is(TokenKind::Comment); });
  };
  if (body.size() <= 1 && (isKernel || body.empty()) && !hasComment(header) &&
      !llvm::any_of(body, hasComment)) {
    Line all = header;
    if (!body.empty())
      llvm::append_range(all.tokens, body.front().tokens);
    size_t width = 0;
    for (size_t i = 0; i < all.tokens.size(); ++i)
      width += all.tokens[i].text.size() +
               (i && spaceBetween(i > 1 ? &all.tokens[i - 2] : nullptr,
                                  all.tokens[i - 1], all.tokens[i]));
    if (body.empty() || width + 2 <= widest) {
      llvm::append_range(all.tokens, close.tokens);
      write(all);
      return;
    }
  }
  write(header);
  for (const Line &line : body)
    write(line);
  write(close);
}

/// The statements or schedule entries up to the closing brace.
std::vector<Line> Formatter::cutBody() {
  std::vector<Line> lines;
  auto begin = [&] {
    lines.push_back({bodyIndent, blankBefore() && !lines.empty(), {}});
  };
  while (!token.is(TokenKind::RightBrace) && !token.is(TokenKind::End)) {
    begin();
    if (token.is(TokenKind::Comment)) {
      take(lines.back());
      continue;
    }
    do
      take(lines.back());
    while (!token.is(TokenKind::RightBrace) && !token.is(TokenKind::End) &&
           !startsStatement());
  }
  return lines;
}

/// The token behind the comments here. Kept, since each of many comments asks.
const Token &Formatter::afterComments() {
  if (token.offset < behind.offset)
    return behind;
  Lexer lookahead = lexer;
  behind = token;
  while (behind.is(TokenKind::Comment))
    behind = lookahead.next();
  return behind;
}

/// Two operands in a row: the second begins something new. A comment between
/// them is on a line of its own, for `take` ate the others.
bool Formatter::startsStatement() {
  if (token.is("let"))
    return true;
  if (!endsOperand(previous))
    return false;
  if (!token.is(TokenKind::Comment))
    return token.is(TokenKind::Name);
  const Token &next = afterComments();
  return next.is("let") || next.is(TokenKind::Name) ||
         next.is(TokenKind::RightBrace);
}

//===----------------------------------------------------------------------===//
// Writing lines
//===----------------------------------------------------------------------===//

/// Writes tokens between comments; a comment ends the line it is on.
void Formatter::write(const Line &line) {
  if (line.blankBefore)
    endLine();
  out.append(line.indent, ' ');
  inBody = line.indent > 0;
  size_t indent = line.indent + continuationIndent;
  llvm::ArrayRef<Token> rest = line.tokens;
  const Token *before = nullptr;
  unsigned depth = 0;
  bool fresh = true; // nothing but the indent is on the current line
  while (!rest.empty()) {
    const Token &first = rest.front();
    if (first.is(TokenKind::Comment)) {
      if (first.firstOnLine && !fresh) {
        endLine();
        out.append(indent + extraIndent(depth), ' ');
      } else if (!fresh) {
        out += ' ';
      }
      out += first.text;
      rest = rest.drop_front();
      if (!rest.empty()) {
        endLine();
        out.append(indent + extraIndent(depth), ' ');
        fresh = true;
      }
      continue;
    }
    llvm::ArrayRef<Token> run = rest.take_until(
        [](const Token &t) { return t.is(TokenKind::Comment); });
    writeTokens(run, before, depth, indent);
    for (const Token &token : run)
      depth += opens(token) ? 1 : closes(token) ? -1 : 0;
    before = &run.back();
    rest = rest.drop_front(run.size());
    fresh = false;
  }
  endLine();
}

/// Writes tokens from the current column on, breaking where it is cheapest
/// among the places that fit, the last of these.
void Formatter::writeTokens(llvm::ArrayRef<Token> tokens, const Token *before,
                            unsigned depth, size_t indent) {
  auto textOf = [](const Token &token) {
    return token.is(TokenKind::String) ? "\"" + token.text.str() + "\""
                                       : token.text.str();
  };
  auto at = [&](size_t i) { return i < tokens.size() ? &tokens[i] : nullptr; };
  size_t start = 0; // of the current line
  while (start < tokens.size()) {
    size_t width = column();
    unsigned bracket = depth;
    std::optional<unsigned> cheapest;
    size_t breakAt = tokens.size();
    size_t i = start;
    for (; i < tokens.size(); ++i) {
      const Token *left = i > start ? at(i - 1) : nullptr;
      if (left) {
        const Token *leftOfLeft = i >= 2 ? at(i - 2) : before;
        std::optional<unsigned> cost = breakCost(*left, tokens[i], bracket > 0);
        if (cost) {
          unsigned whole = *cost + bracket * perBracket;
          if (!cheapest || whole <= *cheapest) {
            // Beyond the width only the first chance counts.
            if (width > widest && breakAt != tokens.size())
              break;
            cheapest = whole;
            breakAt = i;
          }
        }
        width += spaceBetween(leftOfLeft, *left, tokens[i]);
      }
      width += textOf(tokens[i]).size();
      if (width > widest && breakAt != tokens.size())
        break;
      bracket += opens(tokens[i]) ? 1 : closes(tokens[i]) ? -1 : 0;
    }
    size_t end =
        i == tokens.size() && width <= widest ? tokens.size() : breakAt;
    for (size_t j = start; j < end; ++j) {
      const Token *left = j > start ? at(j - 1) : nullptr;
      if (left && spaceBetween(j >= 2 ? at(j - 2) : before, *left, tokens[j]))
        out += ' ';
      out += textOf(tokens[j]);
      depth += opens(tokens[j]) ? 1 : closes(tokens[j]) ? -1 : 0;
    }
    start = end;
    if (start < tokens.size()) {
      endLine();
      out.append(indent + extraIndent(depth), ' ');
    }
  }
}
