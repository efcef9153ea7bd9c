//===- Options.td - every option of `facet` --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one table: the parser, `--help`, the near-miss hints, the completions of
// three shells and the manual page are all made from it. An option names the
// subcommands that take it; one without a list is taken by all, and before any.
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

// ---- subcommands --------------------------------------------------------------

def compile : SubCommand<"compile", "translate kernels to an object, a header or any stage",
                         "facet compile [options] FILE... -o OUTPUT">;
def run : SubCommand<"run", "run one kernel on arrays and print or store what it makes",
                     "facet run [options] FILE ARGUMENT=VALUE...">;
def check : SubCommand<"check", "compare every road this host has with the judge",
                       "facet check [options] FILE...">;
def bench : SubCommand<"bench", "measure one kernel against what this machine can do",
                       "facet bench [options] FILE -D SIZE=VALUE...">;
def explain : SubCommand<"explain", "say how kernels are computed, why, and how long it should take",
                         "facet explain [options] FILE...">;
def fmt : SubCommand<"fmt", "format kernel source", "facet fmt [options] FILE...">;
def import : SubCommand<"import", "turn ONNX, linalg on tensors or an einsum formula into kernel source",
                        "facet import [options] FILE.onnx | FILE.mlir | --einsum=FORMULA">;
def targets : SubCommand<"targets", "list the targets that work here, or print a machine's file",
                         "facet targets [options] [MACHINE]">;
def print_config : SubCommand<"print-config", "say how this facet was built and where its files are",
                              "facet print-config [options]">;

// ---- groups, in the order of --help -------------------------------------------

def grp_output : OptionGroup<"output">, HelpText<"Output">;
def grp_input : OptionGroup<"input">, HelpText<"Input">;
def grp_target : OptionGroup<"target">, HelpText<"Target and sizes">;
def grp_run : OptionGroup<"run">, HelpText<"Running, checking and measuring">;
def grp_diag : OptionGroup<"diagnostics">, HelpText<"Diagnostics">;
def grp_deps : OptionGroup<"dependencies">, HelpText<"Dependencies">;
def grp_general : OptionGroup<"general">, HelpText<"General">;

// `--name VALUE` and `--name=VALUE` are one option.
multiclass Value<string name, list<SubCommand> subcommands, OptionGroup group,
                 string meta, string help, string values = ""> {
  def NAME : Separate<["--"], name, subcommands>, Group<group>, MetaVarName<meta>,
             HelpText<help>, Values<values>;
  def NAME # _eq : Joined<["--"], name # "=", subcommands>, Group<group>,
                   Alias<!cast<Option>(NAME)>, Values<values>;
}
class Switch<string name, list<SubCommand> subcommands, OptionGroup group, string help>
    : Flag<["--"], name, subcommands>, Group<group>, HelpText<help>;

// ---- output -------------------------------------------------------------------

def output : JoinedOrSeparate<["-"], "o", [compile, import]>, Group<grp_output>, MetaVarName<"FILE">,
             HelpText<"write to FILE; '-' is standard output; the suffix says the kind">;
defm weights : Value<"weights", [import], grp_output, "DIR", "write a model's constants to DIR, ARGUMENT.npy each">;
defm fragments : Value<"fragments", [import], grp_output, "FILE", "make a kernel of each product of a model and its neighbours; FILE says which">;
defm emit : Value<"emit", [compile], grp_output, "KIND", "what to write",
                  "obj,asm,llvm,mlir,kernel,header,static,shared,engine">;
defm header : Value<"header", [compile], grp_output, "FILE", "write the C header as well">;
defm namespace : Value<"namespace", [compile], grp_output, "NAME",
                       "put NAME_ before every symbol">;
def debug_lines : Flag<["-"], "g", [compile]>, Group<grp_output>,
                  HelpText<"line tables: gdb and perf show the kernel's source">;
def write_if_changed : Switch<"write-if-changed", [compile], grp_output,
                              "leave an output alone whose contents stay the same">;

// ---- input --------------------------------------------------------------------

def language : JoinedOrSeparate<["-"], "x", [compile, run, check, bench, explain, import]>, Group<grp_input>,
               MetaVarName<"KIND">, Values<"facet,mlir,llvm,onnx">,
               HelpText<"the inputs are of this kind, whatever their suffix">;
def include_dir : JoinedOrSeparate<["-"], "I", [compile, run, check, bench, explain]>, Group<grp_input>,
                  MetaVarName<"DIR">, HelpText<"look for imports in DIR too">;
defm einsum : Value<"einsum", [compile, run, check, bench, explain, import], grp_input, "FORMULA",
                    "a kernel by NumPy's einsum, with types if wanted: ij:bf16,jk->ik">;
defm input_name : Value<"input-name", [compile, run, check, bench, explain, fmt, import], grp_input, "NAME",
                        "the name of standard input in messages">;

// ---- target -------------------------------------------------------------------

defm target : Value<"target", [compile, run, check, bench, explain], grp_target, "LIST",
                    "the target, or levels for one object; 'facet targets' lists them">;
defm triple : Value<"triple", [compile], grp_target, "TRIPLE", "where the code will run">;
defm subnormals : Value<"subnormals", [compile, run, check, bench, explain], grp_target, "WHAT",
                        "bf16 dot products may take them for 0 (default), or none may", "flush,keep">;
def define_size : JoinedOrSeparate<["-"], "D", [compile, run, check, bench, explain]>, Group<grp_target>,
                  MetaVarName<"SIZE=VALUES">,
                  HelpText<"fix a size to one of VALUES; '*' keeps the general code: -D M=1,16,*">;

def jobs : JoinedOrSeparate<["-"], "j", [compile]>, Group<grp_target>, MetaVarName<"N">,
           HelpText<"verify and lower with N threads (default 1); the bytes are the same">;

// ---- run and check ------------------------------------------------------------

defm kernel : Value<"kernel", [compile, run, check, bench, explain], grp_run, "NAME", "which kernel, when there are several">;
defm seed : Value<"seed", [run, check, bench], grp_run, "N", "begin random values at N (default 1)">;
defm sample : Value<"sample", [check], grp_run, "N", "judge N elements of each result (default: all, 4096 of big ones)">;
defm budget : Value<"budget", [check], grp_run, "TIME", "go on with random calls until TIME (30s, 5m) is over">;
defm reproducer : Value<"reproducer", [check], grp_run, "DIR", "write the smallest wrong call of each kind to DIR">;
defm repeat : Value<"repeat", [run, bench], grp_run, "N", "run: call N times and report the fastest; bench: take N samples">;
defm threads : Value<"threads", [bench], grp_run, "N", "run on N threads (default 1)">;
defm gate : Value<"gate", [bench], grp_run, "SHARE", "exit 4 when less than SHARE of the bound is reached">;
def packed : Switch<"packed", [bench], grp_run, "pack constant operands beforehand">;
def json : Switch<"json", [run, check, bench, explain, targets, print_config], grp_run, "print JSON">;
def json_eq : Joined<["--"], "json=", [run]>, Group<grp_run>, MetaVarName<"FILE">, HelpText<"write it to FILE">;
def stats : Switch<"stats", [run], grp_run, "matrix engine: print where the time went">;
defm trace : Value<"trace", [run], grp_run, "FILE", "matrix engine: every instruction, for ui.perfetto.dev (or Chrome's .json)">;
defm html : Value<"html", [run], grp_run, "FILE", "matrix engine: a page with timeline, memory map and roofline">;
defm explain_one : Value<"explain", [run], grp_run, "QUEUE:PC", "matrix engine: print when one instruction ran and why not earlier">;
defm window : Value<"window", [run], grp_run, "FROM:TO", "what part of the run --trace, --html and --explain show, in ns">;
def timing_only : Switch<"timing-only", [run], grp_run, "matrix engine: the time alone, without data; sizes by -D">;
def schedule : Switch<"schedule", [explain], grp_run, "print the plan as a schedule block">;
def fmt_check : Switch<"check", [fmt], grp_run, "write nothing; exit 1 when a file is not formatted">;
def fmt_stdout : Switch<"stdout", [fmt], grp_run, "print the result, leave the file alone">;

// ---- diagnostics --------------------------------------------------------------

def warning : Joined<["-"], "W", [compile, run, check, bench, explain]>, Group<grp_diag>, MetaVarName<"GROUP">,
              HelpText<"-WGROUP, -Wno-GROUP, -Werror, -Werror=GROUP; --help=warnings lists groups">;
def no_warnings : Flag<["-"], "w", [compile, run, check, bench, explain]>, Group<grp_diag>,
                  HelpText<"no warnings and no remarks">;
defm error_limit : Value<"error-limit", [compile, run, check, bench, explain, fmt, import], grp_diag, "N",
                         "stop after N errors; 0: never (default 20)">;
defm diagnostics_format : Value<"diagnostics-format", [compile, run, check, bench, explain, fmt, import, targets, print_config],
                                grp_diag, "FORMAT", "how to print messages", "text,json,sarif">;
defm diagnostics_file : Value<"diagnostics-file", [compile, run, check, bench, explain, fmt, import, targets, print_config],
                              grp_diag, "FILE", "print messages to FILE">;
defm color : Value<"color", [compile, run, check, bench, explain, fmt, import, targets, print_config], grp_diag, "WHEN",
                   "colours in messages (default auto)", "auto,always,never">;
// What CMake and Ninja hand to gcc and clang.
def fcolor_diagnostics : Flag<["-"], "fcolor-diagnostics", [compile, run, check, bench, explain, fmt, import, targets, print_config]>,
                         Group<grp_diag>, Alias<color>, AliasArgs<["always"]>;
def fno_color_diagnostics : Flag<["-"], "fno-color-diagnostics", [compile, run, check, bench, explain, fmt, import, targets, print_config]>,
                            Group<grp_diag>, Alias<color>, AliasArgs<["never"]>;
def fdiagnostics_color : Flag<["-"], "fdiagnostics-color", [compile, run, check, bench, explain, fmt, import, targets, print_config]>,
                         Group<grp_diag>, Alias<color>, AliasArgs<["always"]>;
def fdiagnostics_color_eq : Joined<["-"], "fdiagnostics-color=", [compile, run, check, bench, explain, fmt, import, targets, print_config]>,
                            Group<grp_diag>, Alias<color>, Values<"auto,always,never">;

// ---- dependencies -------------------------------------------------------------

def MD : Flag<["-"], "MD", [compile]>, Group<grp_deps>,
         HelpText<"write a Makefile rule with every file read, beside the output">;
def MF : JoinedOrSeparate<["-"], "MF", [compile]>, Group<grp_deps>, MetaVarName<"FILE">,
         HelpText<"write that rule to FILE">;
def MT : JoinedOrSeparate<["-"], "MT", [compile]>, Group<grp_deps>, MetaVarName<"TARGET">,
         HelpText<"the rule's target, as it is, instead of the outputs">;
def MQ : JoinedOrSeparate<["-"], "MQ", [compile]>, Group<grp_deps>, MetaVarName<"TARGET">,
         HelpText<"the same, escaped for make">;
def MP : Flag<["-"], "MP", [compile]>, Group<grp_deps>,
         HelpText<"add an empty rule for every import, so that it may vanish">;

// ---- general ------------------------------------------------------------------

def quiet : Flag<["-"], "q", [compile, run, check, bench]>, Group<grp_general>,
            HelpText<"print results and errors, no progress">;
def help : Flag<["--"], "help">, Group<grp_general>,
           HelpText<"this text; --help=warnings, --help=exit-codes, --help=SUBCOMMAND">;
def help_eq : Joined<["--"], "help=">, Group<grp_general>, Values<"warnings,exit-codes">;
def h : Flag<["-"], "h">, Group<grp_general>, Alias<help>;
def version : Flag<["--"], "version">, Group<grp_general>, HelpText<"versions; --version=json for scripts">;
def version_eq : Joined<["--"], "version=">, Group<grp_general>, Values<"json">;
def dumpversion : Flag<["-"], "dumpversion">, Group<grp_general>, HelpText<"the bare version">;
def dumpmachine : Flag<["-"], "dumpmachine">, Group<grp_general>, HelpText<"the default triple">;
def print_targets : Flag<["--"], "print-targets">, Group<grp_general>, HelpText<"the names of the targets, one a line">;
def print_include_dir : Flag<["--"], "print-include-dir">, Group<grp_general>, HelpText<"where facet/abi.h is">;
def print_cmake_dir : Flag<["--"], "print-cmake-dir">, Group<grp_general>, HelpText<"what CMAKE_PREFIX_PATH needs">;
def print_completion_eq : Joined<["--"], "print-completion=">, Group<grp_general>, Values<"bash,zsh,fish">,
                          MetaVarName<"SHELL">, HelpText<"a completion script for bash, zsh or fish">;
def print_manual : Flag<["--"], "print-manual">, Group<grp_general>, HelpText<"the manual page, for man(1)">;
// Not listed: how the tests reach internal errors, what check says of wrong calls
// (Mischief in lib/Driver/Check/Placement.h), and the milliseconds that LongWork waits.
def internal_wrong : Joined<["--"], "internal-wrong=", [check]>, Group<grp_general>;
def internal_patience : Joined<["--"], "internal-patience=", [compile, run, check, bench]>, Group<grp_general>;
def internal_crash : Flag<["--"], "internal-crash">, Group<grp_general>;
