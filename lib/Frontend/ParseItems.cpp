//===- ParseItems.cpp - files, imports, functions and kernels -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The outer half of the grammar, and recovery: after an error inside a
// statement the parser goes on at the next line that can begin one, after an
// error in a header at the body or the next item. A wrong file thus gets one
// message per mistake.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include "Words.h"
#include "llvm/ADT/StringSwitch.h"

using namespace facet;
using namespace facet::syntax;
using llvm::StringRef;
using llvm::Twine;

File syntax::parse(StringRef file, StringRef text, Diagnostics &diagnostics) {
  return Parser(file, text, diagnostics).parseFile();
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// The current token for a message.
std::string Parser::found() const {
  if (token.is(TokenKind::End))
    return "the end of the file";
  std::string text = token.text.take_front(30).str();
  if (token.text.size() > 30)
    text += "…";
  if (token.is(TokenKind::String))
    return "the string \"" + text + "\"";
  return "`" + text + "`";
}

/// A malformed token was reported by the lexer; what fails for it is silent. So
/// is what fails because the text ends at the error limit.
Diagnostic &Parser::error(Span span, const Twine &message) {
  if (token.is(TokenKind::Invalid) || diagnostics.limitReached())
    return ignored;
  return diagnostics.error(placeIn(file, span), message);
}

bool Parser::expect(TokenKind kind, const Twine &what, const Span *opening) {
  if (consume(kind))
    return true;
  if (refuseForeignWord())
    return false;
  Diagnostic &diagnostic =
      error(token.span, "expected " + what + ", found " + found());
  if (opening && opening->line != token.span.line)
    diagnostic.note(placeIn(file, *opening), "it would close this");
  return false;
}

bool Parser::expectName(Identifier &name, const Twine &what) {
  name = {token.text.str(), token.span};
  if (consume(TokenKind::Name))
    return true;
  if (token.is(TokenKind::Size))
    error(token.span, "`" + token.text +
                          "` begins with a capital and so is a size; " + what +
                          " begins with a small letter");
  else if (token.isWord())
    error(token.span,
          "`" + token.text + "` is a reserved word and cannot be " + what);
  else if (!refuseForeignWord())
    error(token.span, "expected " + what + ", found " + found());
  return false;
}

void Parser::skipToItem() {
  while (!token.is(TokenKind::End) && !atItem())
    advance();
}

/// Goes on at `let`, at `}`, or at a name that begins a line no deeper than
/// `column`, where the statement that failed began.
void Parser::skipToStatement(unsigned column) {
  while (!token.is(TokenKind::End) && !atItem() &&
         !token.is(TokenKind::RightBrace) && !token.is("let") &&
         !(token.is(TokenKind::Name) && token.firstOnLine &&
           token.span.column <= column))
    advance();
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

File Parser::parseFile() {
  File result;
  result.name = file;
  while (!token.is(TokenKind::End)) {
    if (token.is("import")) {
      if (auto import = parseImport())
        result.items.push_back(std::move(*import));
    } else if (token.is("fn")) {
      result.items.push_back(parseFunction());
    } else if (token.is("kernel")) {
      result.items.push_back(parseKernel());
    } else if (token.is("schedule")) {
      if (auto schedule = parseSchedule())
        result.items.push_back(std::move(*schedule));
    } else {
      if (token.is(TokenKind::Later))
        error(token.span, "`" + token.text + "` is not part of the language; " +
                              insteadOf(token.text));
      else
        error(token.span, "expected `kernel`, `fn`, `import` or `schedule`, "
                          "found " +
                              found());
      skipToItem();
    }
  }
  return result;
}

std::optional<Import> Parser::parseImport() {
  advance();
  Import import{token.text.str(), token.span};
  if (!expect(TokenKind::String, "the file to import, `\"name.facet\"`")) {
    skipToItem();
    return std::nullopt;
  }
  if (import.path.empty()) {
    error(import.span, "the name of the file to import is empty");
    return std::nullopt;
  }
  return import;
}

syntax::Function Parser::parseFunction() {
  syntax::Function function;
  advance();
  auto parse = [&] {
    if (!expectName(function.name, "the name of a function"))
      return false;
    if (!expect(TokenKind::LeftParen, "`(` after the function's name"))
      return false;
    do {
      if (function.parameters.size() == maxParams) {
        error(token.span,
              "a function has at most " + Twine(maxParams) + " parameters");
        return false;
      }
      Identifier parameter;
      if (!expectName(parameter, "a parameter"))
        return false;
      function.parameters.push_back(std::move(parameter));
    } while (consume(TokenKind::Comma));
    if (token.is(TokenKind::Colon)) {
      error(token.span, "a function takes values of any type; its parameters "
                        "have a name only");
      return false;
    }
    if (!expect(TokenKind::RightParen, "`,` or `)` after a parameter"))
      return false;
    if (token.is(TokenKind::LeftBrace)) {
      error(token.span, "a function is one expression, `fn name(x) = …`");
      return false;
    }
    if (!expect(TokenKind::Assign, "`=` and the function's expression"))
      return false;
    function.body = parseExpr();
    return function.body != nullptr;
  };
  if (!parse())
    skipToItem();
  return function;
}

Kernel Parser::parseKernel() {
  Kernel kernel;
  kernel.documentation = lexer.documentation();
  advance();
  if (!parseKernelHeader(kernel)) {
    kernel.broken = true;
    while (!token.is(TokenKind::End) && !atItem() &&
           !token.is(TokenKind::LeftBrace))
      advance();
  }
  if (token.is(TokenKind::LeftBrace))
    parseBody(kernel);
  return kernel;
}

bool Parser::parseKernelHeader(Kernel &kernel) {
  if (!expectName(kernel.name, "the name of a kernel"))
    return false;
  if (token.is(TokenKind::Less) || token.is(TokenKind::LeftBracket)) {
    error(token.span, "type parameters are not part of the language; write one "
                      "kernel per element type");
    return false;
  }
  Span opening = token.span;
  if (!expect(TokenKind::LeftParen, "`(` and the kernel's arguments"))
    return false;
  if (!token.is(TokenKind::RightParen) && !parseParams(kernel.arguments))
    return false;
  if (!expect(TokenKind::RightParen, "`,` or `)` after an argument", &opening))
    return false;
  if (consume(TokenKind::Arrow) && !parseParams(kernel.results))
    return false;
  if (token.is("requires")) {
    do {
      advance();
      ExprPtr condition = parseExpr();
      if (!condition)
        return false;
      kernel.requirements.push_back(std::move(condition));
    } while (token.is(TokenKind::Comma));
  }
  if (token.is(TokenKind::LeftBrace))
    return true;
  return expect(TokenKind::LeftBrace, kernel.results.empty()
                                          ? "`->`, `requires` or `{`"
                                          : "`,`, `requires` or `{`");
}

bool Parser::parseParams(std::vector<Param> &params) {
  do {
    if (params.size() == maxParams) {
      error(token.span, "a kernel has at most " + Twine(maxParams) +
                            " arguments and as many results");
      return false;
    }
    Param param;
    if (!parseParam(param))
      return false;
    params.push_back(std::move(param));
  } while (consume(TokenKind::Comma));
  return true;
}

/// The type of our language behind a name that other languages use.
static StringRef ownTypeFor(StringRef theirs) {
  return llvm::StringSwitch<StringRef>(theirs)
      .Cases({"float", "fp32", "float32", "single"}, "f32")
      .Cases({"double", "fp64", "float64"}, "f64")
      .Cases({"half", "fp16", "float16"}, "f16")
      .Cases({"bfloat16", "bfloat"}, "bf16")
      .Cases({"int", "int32", "u32", "uint32"}, "i32")
      .Cases({"long", "int64", "u64", "uint64", "index", "usize"}, "i64")
      .Cases({"int16", "u16", "short"}, "i16")
      .Cases({"int8", "char"}, "i8")
      .Cases({"uint8", "byte"}, "u8")
      .Cases({"i1", "boolean"}, "bool")
      .Cases({"fp8", "f8", "float8", "f8e4m3fnuz"}, "f8e4m3fn")
      .Default("");
}

bool Parser::parseParam(Param &param) {
  if (token.is(TokenKind::Ellipsis)) {
    refuseForeignWord();
    return false;
  }
  if (!expectName(param.name, "the name of an argument or result") ||
      !expect(TokenKind::Colon,
              "`:` and a type after `" + param.name.text + "`"))
    return false;
  if (token.is("inout") || token.is("const")) {
    param.mode = token.is("inout") ? ParamMode::Inout : ParamMode::Const;
    param.modeSpan = token.span;
    advance();
  }
  param.typeSpan = token.span;
  if (!token.is(TokenKind::Type)) {
    std::string hint = ownTypeFor(token.text).str();
    llvm::SmallVector<StringRef> names;
    for (StringRef type : words(WordKind::Type))
      names.push_back(type);
    if (hint.empty() && token.is(TokenKind::Name))
      hint = nearest(token.text, names);
    if (token.is(TokenKind::Later))
      error(token.span, "`" + token.text + "` is not part of the language; " +
                            insteadOf(token.text));
    else if (token.is(TokenKind::Size))
      error(token.span, "`" + token.text +
                            "` is no type; type parameters are not part of the "
                            "language: write one kernel per element type");
    else if (!hint.empty())
      error(token.span,
            "`" + token.text + "` is no type; did you mean `" + hint + "`?");
    else if (!refuseForeignWord())
      error(token.span,
            "expected a type such as `f32` or `bf16`, found " + found());
    return false;
  }
  param.type = *typeByName(token.text);
  if (param.type == ScalarType::TF32) {
    error(token.span, "`tf32` is a rounding without storage; declare `f32` and "
                      "round where it is read, `tf32(" +
                          param.name.text + "[…])`");
    return false;
  }
  advance();
  if (!consume(TokenKind::LeftBracket))
    return true;
  if (token.is(TokenKind::RightBracket)) {
    error(token.span, "an array has at least one axis; a scalar is written "
                      "without brackets");
    return false;
  }
  do {
    Axis axis;
    if (!parseAxis(axis))
      return false;
    param.axes.push_back(std::move(axis));
  } while (consume(TokenKind::Comma));
  return expect(TokenKind::RightBracket, "`,` or `]` after an axis");
}

bool Parser::parseAxis(Axis &axis) {
  Span begin = token.span;
  if (!consume(TokenKind::LeftParen)) {
    axis.dims.emplace_back();
    axis.span = begin;
    return parseDim(axis.dims.back());
  }
  do {
    if (token.is(TokenKind::LeftParen)) {
      error(token.span, "groups do not nest; list all sizes in one group");
      return false;
    }
    axis.dims.emplace_back();
    if (!parseDim(axis.dims.back()))
      return false;
  } while (consume(TokenKind::Comma));
  if (!expect(TokenKind::RightParen, "`,` or `)` in a group of sizes"))
    return false;
  axis.span = join(begin, previousEnd);
  if (axis.dims.size() == 1) {
    error(axis.span, "a group joins two or more sizes; write one without "
                     "parentheses");
    return false;
  }
  return true;
}

bool Parser::parseDim(Dim &dim) {
  dim.span = token.span;
  if (token.is(TokenKind::Size)) {
    dim.size = token.text.str();
  } else if (token.is(TokenKind::Integer)) {
    if (token.text.getAsInteger(10, dim.number)) {
      error(token.span, "axis is too long: at most 9223372036854775807 "
                        "elements");
      return false;
    }
    if (dim.number == 0) {
      error(token.span, "an axis of 0 elements holds nothing; write a size "
                        "name when it may be empty");
      return false;
    }
  } else if (token.is(TokenKind::Name) || token.isWord()) {
    std::string capital = token.text.str();
    capital[0] = static_cast<char>(capital[0] - 'a' + 'A');
    error(token.span, "sizes begin with a capital: write `" + capital +
                          "` for `" + token.text + "`");
    return false;
  } else {
    if (!refuseForeignWord())
      error(token.span, "expected a size or a number, found " + found());
    return false;
  }
  advance();
  if (token.is(TokenKind::Star) || token.is(TokenKind::Plus) ||
      token.is(TokenKind::Minus) || token.is(TokenKind::Slash) ||
      token.is(TokenKind::Percent)) {
    error(token.span, "an axis is a size or a number, not computed; write the "
                      "product `2 * F` as the group `(2, F)`, and relate sizes "
                      "by `requires`");
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

void Parser::parseBody(Kernel &kernel) {
  Span open = token.span;
  advance();
  while (!token.is(TokenKind::RightBrace)) {
    if (token.is(TokenKind::End) || atItem()) {
      error(token.span, "expected `}` at the end of kernel `" +
                            kernel.name.text + "`, found " + found())
          .note(placeIn(file, open), "the body begins here");
      kernel.broken = true;
      return;
    }
    Statement statement;
    unsigned column = token.firstOnLine ? token.span.column : ~0u;
    if (parseStatement(statement)) {
      kernel.statements.push_back(std::move(statement));
    } else {
      kernel.broken = true;
      skipToStatement(column);
    }
    assigning = {};
  }
  advance();
}

bool Parser::parseStatement(Statement &statement) {
  if (token.is(TokenKind::Later)) {
    error(token.span, "`" + token.text + "` is not part of the language; " +
                          insteadOf(token.text));
    advance();
    return false;
  }
  statement.isLet = token.is("let");
  if (statement.isLet)
    advance();
  else if (!token.is(TokenKind::Name) && !token.is(TokenKind::Size) &&
           !token.isWord()) {
    if (!refuseForeignWord())
      error(token.span, "expected a statement or `}`, found " + found());
    advance();
    return false;
  }
  assigning = token.text;
  if (!expectName(statement.target, statement.isLet ? "a `let`" : "a result")) {
    advance();
    return false;
  }
  if (consume(TokenKind::LeftBracket)) {
    if (!parseBinds(statement.binds, /*left=*/true) ||
        !expect(TokenKind::RightBracket, "`,` or `]` after an index"))
      return false;
  } else if (token.is(TokenKind::LeftParen)) {
    error(statement.target.span, "`" + statement.target.text +
                                     "(…)` is no statement; a statement is "
                                     "`name[i, j] = expression`");
    return false;
  }
  if (!expect(TokenKind::Assign, "`=` and an expression"))
    return false;
  statement.value = parseExpr();
  return statement.value != nullptr;
}

/// bind {"," bind}. `left`: those of a statement, which must be plain.
bool Parser::parseBinds(std::vector<Bind> &binds, bool left) {
  do {
    if (left && token.is(TokenKind::Integer)) {
      error(token.span, "a result is assigned everywhere at once, at plain "
                        "indices; choose by element with `where(e == " +
                            token.text + ", a, b)`");
      return false;
    }
    Bind bind;
    if (!expectName(bind.name, "an index"))
      return false;
    if (left && token.is(TokenKind::LeftBracket)) {
      error(bind.name.span, "scatter is not part of the language: the left "
                            "side takes plain indices; " +
                                insteadOf("scatter"));
      return false;
    }
    if (left && (token.is(TokenKind::Plus) || token.is(TokenKind::Minus) ||
                 token.is(TokenKind::Star) || token.is(TokenKind::Slash) ||
                 token.is(TokenKind::Percent))) {
      error(bind.name.span, "the left side takes plain indices, not computed "
                            "ones; move the shift to the right side as a "
                            "filter or a gather");
      return false;
    }
    if (consume(TokenKind::Colon)) {
      bind.range.emplace();
      if (!parseDim(*bind.range))
        return false;
    }
    binds.push_back(std::move(bind));
  } while (consume(TokenKind::Comma));
  return true;
}
