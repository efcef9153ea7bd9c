//===- Style.cpp - how the page of --html looks ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One style sheet for HTML and SVG. Every colour is a variable with a light and a
// dark value, chosen by the reader's preference; figures name a paint, never a
// colour.
//
//===----------------------------------------------------------------------===//

#include "Page.h"

using namespace facet;
using namespace facet::sim;

const char *sim::paintName(Paint paint) {
  static const char *const names[numPaints] = {
      "run",     "move", "transfer", "engine",
      "weights", "own",  "overhead", "idle"};
  return names[unsigned(paint)];
}

const char *sim::paintTitle(Paint paint) {
  static const char *const titles[numPaints] = {
      "works",
      "transfer under way",
      "waits for a transfer",
      "waits for another engine",
      "waits for weights",
      "waits for its own result",
      "loops, issue, fetch, triggers, slow clock",
      "at its end"};
  return titles[unsigned(paint)];
}

Paint sim::paintOf(Stall stall) {
  switch (stall) {
  case Stall::Transfer:
    return Paint::Transfer;
  case Stall::Semaphore:
  case Stall::Port:
    return Paint::Engine;
  case Stall::Weights:
    return Paint::Weights;
  case Stall::Dependency:
    return Paint::Own;
  case Stall::Idle:
    return Paint::Idle;
  default:
    return Paint::Overhead;
  }
}

void sim::writeStyle(llvm::raw_ostream &os) {
  os << R"css(
:root {
  color-scheme: light dark;
  --page: #f4f6f9; --card: #ffffff; --ink: #18202c; --muted: #5d6878; --line: #e2e6ec; --track: #eef1f5;
  --run: #3566d6; --move: #16966a; --transfer: #e8862a; --engine: #9560c4; --weights: #caa413; --own: #d3568d;
  --overhead: #8a95a6; --idle: transparent; --soft: .5; --on: #ffffff; --mark: #d23f4b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e1116; --card: #161b22; --ink: #e4e8ee; --muted: #97a2b2; --line: #2a313c; --track: #1e242d;
    --run: #5b8cf0; --move: #36b583; --transfer: #f09c48; --engine: #b48be0; --weights: #d9b944; --own: #e57ba6;
    --overhead: #6d7889; --idle: transparent; --soft: .8; --on: #0e1116; --mark: #f2717b;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
main { max-width: 1240px; margin: 0 auto; padding: 28px 20px 48px; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 14px; margin-bottom: 18px; }
h1 { font-size: 22px; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
header p { margin: 0; color: var(--muted); }
h2 { font-size: 15px; margin: 0 0 2px; }
h2 + p { margin: 0 0 12px; color: var(--muted); font-size: 13px; max-width: 92ch; }
code { font: 12px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 16px 18px; margin-top: 16px;
  min-width: 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(180px, 1fr)); gap: 16px; }
.cards section { margin: 0; padding: 13px 16px; }
.cards h2 { font-size: 12px; font-weight: 600; color: var(--muted); margin: 0; }
.cards strong { display: block; font-size: 22px; line-height: 1.35; white-space: nowrap; font-weight: 650; letter-spacing: -.01em; }
.cards p { margin: 0; color: var(--muted); font-size: 13px; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 500px), 1fr)); gap: 0 16px; }
.scroll { overflow-x: auto; } .scroll + .scroll { margin-top: 18px; } .scroll svg { min-width: 760px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th { text-align: left; font-weight: 600; color: var(--muted); font-size: 12px; white-space: nowrap; }
th, td { padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
th.n, td.n { text-align: right; white-space: nowrap; }
td.n + td, th.n + th:not(.n) { padding-left: 10px; }
.tight th, .tight td { font-size: 12px; padding-right: 8px; } .tight th { font-size: 11px; }
td small { color: var(--muted); font-size: 12px; }
.bar { display: flex; height: 14px; min-width: 220px; border-radius: 3px; overflow: hidden; background: var(--track); margin-top: 3px; }
.bar i { display: block; min-width: 0; }
.meter { position: relative; background: var(--track); height: 6px; border-radius: 3px; min-width: 90px; margin-top: 7px; }
.meter i { position: absolute; inset: 0 auto 0 0; border-radius: 3px; background: var(--run); }
.legend { display: flex; flex-wrap: wrap; gap: 3px 16px; margin: 0 0 10px; padding: 0; list-style: none; font-size: 12px;
  color: var(--muted); }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; }
svg { display: block; width: 100%; height: auto; font: 11px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
svg text { fill: var(--ink); } svg text.m { fill: var(--muted); } svg text.on { fill: var(--on); font-size: 10px; }
svg text.e { text-anchor: end; } svg text.c { text-anchor: middle; } svg text.b { font-weight: 600; }
svg .track { fill: var(--track); } svg .grid { stroke: var(--line); stroke-width: 1; fill: none; }
svg text.halo { paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; }
svg .roof { stroke: var(--ink); stroke-width: 1.6; fill: none; } svg .dash { stroke: var(--muted); stroke-dasharray: 3 3; fill: none; }
svg .point { fill: var(--mark); } svg .hollow { fill: var(--card); stroke: var(--mark); stroke-width: 1.6; }
svg .hit { fill: transparent; } svg .hit:hover { fill: var(--ink); fill-opacity: .08; }
.soft .transfer, .soft .engine, .soft .weights, .soft .own, .soft .overhead { fill-opacity: var(--soft); }
svg .edge { stroke: var(--card); stroke-width: .6; }
svg .area { fill: var(--move); fill-opacity: .35; stroke: var(--move); stroke-width: 1; }
svg .buffer { fill: var(--run); fill-opacity: .22; stroke: var(--run); stroke-width: 1; }
svg .touched { fill: var(--move); fill-opacity: .22; stroke: var(--move); stroke-width: 1; }
svg .slow { fill: var(--transfer); } svg .fast { fill: var(--run); fill-opacity: .45; }
footer { color: var(--muted); font-size: 12px; margin-top: 18px; overflow-wrap: anywhere; }
)css";
  for (unsigned p = 0; p != numPaints; ++p) {
    const char *name = paintName(Paint(p));
    os << "svg ." << name << " { fill: var(--" << name << "); } i." << name
       << " { background: var(--" << name << "); }\n";
  }
  os << "i.idle { box-shadow: inset 0 0 0 1px var(--line); }\n"
        ".bar i.idle { box-shadow: none; }\n";
}
