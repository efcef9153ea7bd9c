//===- ParseSchedule.cpp - schedule blocks --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `s: block(i = 128), stationary = q` ↦ an entry with two clauses. The grammar
// is generic: words such as `block` are names here and get their meaning from
// the target that the schedule is for.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

using namespace facet;
using namespace facet::syntax;

std::optional<Schedule> Parser::parseSchedule() {
  Schedule schedule;
  schedule.file = file;
  advance();
  if (!parseScheduleHeader(schedule)) {
    skipToItem();
    return std::nullopt;
  }
  Span open = previousEnd;
  while (!token.is(TokenKind::RightBrace)) {
    if (token.is(TokenKind::End) || atItem()) {
      error(token.span,
            "expected `}` at the end of the schedule, found " + found())
          .note(placeIn(file, open), "the schedule begins here");
      return std::nullopt;
    }
    ScheduleEntry entry;
    if (!parseEntry(entry)) {
      skipToItem();
      return std::nullopt;
    }
    schedule.entries.push_back(std::move(entry));
  }
  advance();
  return schedule;
}

bool Parser::parseScheduleHeader(Schedule &schedule) {
  if (!expectName(schedule.kernel, "the name of a kernel"))
    return false;
  if (!token.is("on")) {
    error(token.span,
          "expected `on` and the target, `on \"trn2\"`, found " + found());
    return false;
  }
  advance();
  schedule.target = token.text.str();
  schedule.targetSpan = token.span;
  if (!expect(TokenKind::String, "the target in quotes, `\"trn2\"`"))
    return false;
  if (token.is("when")) {
    advance();
    schedule.when = parseExpr();
    if (!schedule.when)
      return false;
  }
  return expect(TokenKind::LeftBrace, schedule.when ? "`{`" : "`when` or `{`");
}

bool Parser::parseEntry(ScheduleEntry &entry) {
  if (!expectName(entry.statement, "a statement of the kernel") ||
      !expect(TokenKind::Colon, "`:` after `" + entry.statement.text + "`"))
    return false;
  do {
    Clause clause;
    if (!parseClause(clause))
      return false;
    entry.clauses.push_back(std::move(clause));
  } while (consume(TokenKind::Comma));
  return true;
}

bool Parser::parseClause(Clause &clause) {
  if (!expectName(clause.name, "a schedule word"))
    return false;
  if (consume(TokenKind::Assign)) {
    clause.value.emplace();
    return parseValue(*clause.value);
  }
  if (!expect(TokenKind::LeftParen,
              "`=` or `(` after `" + clause.name.text + "`"))
    return false;
  clause.arguments.emplace();
  if (consume(TokenKind::RightParen))
    return true;
  do {
    ClauseArgument argument;
    bool isName = token.is(TokenKind::Name);
    if (!parseValue(argument.name))
      return false;
    if (isName && consume(TokenKind::Assign)) {
      argument.value.emplace();
      if (!parseValue(*argument.value))
        return false;
    }
    clause.arguments->push_back(std::move(argument));
  } while (consume(TokenKind::Comma));
  return expect(TokenKind::RightParen, "`,` or `)`");
}

bool Parser::parseValue(Value &value) {
  value.span = token.span;
  if (token.is(TokenKind::Integer)) {
    if (token.text.getAsInteger(10, value.number)) {
      error(token.span, "number is too large for a schedule");
      return false;
    }
    advance();
    return true;
  }
  if (!token.is(TokenKind::Name)) {
    error(token.span, "expected a number or a word, found " + found());
    return false;
  }
  value.word = token.text.str();
  advance();
  return true;
}
