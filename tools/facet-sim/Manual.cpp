//===- Manual.cpp - facet-sim manual: reference tables from the code ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the tables of Instructions.def and Parameters.def as Markdown, and keeps
// the parts of a page that lie between
//
//   <!-- begin generated: instructions -->
//   <!-- end generated -->
//
// equal to them: --update writes them, --check says whether they are current. The
// prose around them is written by hand.
//
//===----------------------------------------------------------------------===//

#include "Verbs.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace facet;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// The instruction set
//===----------------------------------------------------------------------===//

static std::string escape(StringRef text) {
  std::string out;
  for (char c : text) {
    if (c == '|')
      out += '\\';
    out += c;
  }
  return out;
}

static void printWords(llvm::raw_ostream &os) {
  os << "### Element types\n\n| code | name | bits | |\n|---|---|---|---|\n";
  for (unsigned t = 0; t != numDTypes; ++t)
    os << "| " << t << " | `" << dtypeName(DType(t)) << "` | "
       << dtypeBits(DType(t)) << " | " << escape(dtypeDoc(DType(t))) << " |\n";
  os << "\n### Operations\n\nFloats: on f32, one rounding to nearest even "
        "each; a NaN "
        "result is 0x7fc00000. Integers: on i32,\nwrapping. Comparisons and "
        "logic "
        "give 1 or 0.\n\n| code | name | inputs | result "
        "|\n|---|---|---|---|\n";
  for (unsigned op = 0; op != numAlus; ++op)
    os << "| " << op << " | `" << aluName(Alu(op)) << "` | "
       << aluInputs(Alu(op)) << " | " << escape(aluDoc(Alu(op))) << " |\n";
  os << "\n### Functions\n\nOf `activate`, on f32. `exp` to `erf` err by at "
        "most 2 ulp; "
        "`gelu`, `gelu_tanh`, `silu` by at most 2 ulp + 2⁻²³·\\|x\\|.\nInside "
        "the "
        "bound the bits are the implementation's own and the same on every run "
        "and "
        "host. NaN gives 0x7fc00000,\nand so does −inf in `gelu`, "
        "`gelu_tanh` and `silu`: it is multiplied by 0.\n\n| code | name | "
        "value "
        "|\n|---|---|---|\n";
  for (unsigned f = 0; f != numFunctions; ++f)
    os << "| " << f << " | `" << functionName(Function(f)) << "` | "
       << escape(functionDoc(Function(f))) << " |\n";
}

static std::string engines(const OpcodeInfo &info) {
  std::string text;
  for (unsigned e = 0; e != numEngines; ++e)
    if (info.runsOn(Engine(e)))
      text += (text.empty() ? "" : ", ") + std::string(engineName(Engine(e)));
  return text == "tensor, vector, scalar, gpsimd, sync" ? "every queue" : text;
}

static const char *typeSetText(TypeSet set) {
  switch (set) {
  case TypeSet::Matmul:
    return "floats up to 32 bit";
  case TypeSet::F32Only:
    return "f32";
  case TypeSet::F32OrI32:
    return "f32, i32";
  case TypeSet::I32Only:
    return "i32";
  case TypeSet::Wide:
    return "16 and 32 bit";
  case TypeSet::Compute:
    return "up to 32 bit";
  case TypeSet::Any:
    return "any";
  case TypeSet::IndexOnly:
    return "i32";
  }
  return "";
}

static std::string spacesText(StringRef letters) {
  std::string text;
  for (char c : letters)
    text += (text.empty() ? "" : ", ") + std::string(c == 's'   ? "sbuf"
                                                     : c == 'p' ? "psum"
                                                     : c == 'h' ? "hbm"
                                                                : "index");
  return text;
}

static const char *modeText(OperandMode mode) {
  return mode == OperandMode::Read    ? "read"
         : mode == OperandMode::Write ? "written"
                                      : "read and written";
}

static const char *placeText(FieldPlace place) {
  static const char *const names[] = {"imm0", "imm1", "sub0",
                                      "sub1", "sub2", "sub3"};
  return names[unsigned(place)];
}

static std::string defaultText(const FieldInfo &f) {
  switch (f.kind) {
  case FieldKind::Alu:
  case FieldKind::Compare:
    return aluName(Alu(f.defaultBits));
  case FieldKind::Function:
    return functionName(Function(f.defaultBits));
  case FieldKind::Pass:
    return "all";
  case FieldKind::Float:
    return f.defaultBits == 0x3f800000 ? "1.0" : f.defaultBits ? "-0.0" : "0.0";
  case FieldKind::Ring:
  case FieldKind::Semaphore:
  case FieldKind::Signed:
  case FieldKind::Jump:
    return "";
  default:
    return std::to_string(f.defaultBits);
  }
}

static void printInstructions(llvm::raw_ostream &os) {
  printWords(os);
  os << "\n### Instructions\n\n| code | name | runs on | "
        "|\n|---|---|---|---|\n";
  for (const OpcodeInfo &info : opcodeInfos())
    os << "| 0x" << llvm::utohexstr(unsigned(info.opcode), true, 2) << " | ["
       << info.mnemonic << "](#" << info.mnemonic << ") | " << engines(info)
       << " | " << info.summary << " |\n";
  for (const OpcodeInfo &info : opcodeInfos()) {
    os << "\n#### " << info.mnemonic << "\n\n" << info.description << "\n";
    if (!info.operands.empty()) {
      os << "\n| operand | slot | | memory | types | "
            "|\n|---|---|---|---|---|---|\n";
      for (const OperandInfo &o : info.operands)
        os << "| `" << o.name << "` | " << o.slot << " | "
           << (o.need == Need::Optional ? "may be left out, " : "")
           << modeText(o.mode) << " | " << spacesText(o.spaces) << " | "
           << typeSetText(o.types) << " | " << escape(o.doc) << " |\n";
    }
    if (!info.fields.empty()) {
      os << "\n| field | place | default | |\n|---|---|---|---|\n";
      for (const FieldInfo &f : info.fields)
        os << "| " << (*f.name ? "`" + std::string(f.name) + "`" : "(none)")
           << " | " << placeText(f.place) << " | " << defaultText(f) << " | "
           << escape(f.doc) << " |\n";
    }
    if (!info.flags.empty()) {
      os << "\n| flag | bit | |\n|---|---|---|\n";
      for (const FlagInfo &f : info.flags)
        os << "| `" << f.name << "` | " << f.bit << " | " << escape(f.doc)
           << " |\n";
    }
  }
}

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

static void printMachines(llvm::raw_ostream &os) {
  for (const MachineGroup &group : machineGroups()) {
    os << "### `" << group.name << "`: " << group.doc
       << "\n\n| key | from | to | |\n|---|---|---|---|\n";
    for (const MachineParameter &p : machineParameters()) {
      if (StringRef(p.group) != group.name)
        continue;
      os << "| `" << p.key << "` | ";
      if (p.kind == MachineParameter::Word) {
        os << "text | ";
      } else {
        Machine low, high;
        p.number(low) = p.min;
        p.number(high) = p.max;
        os << printMachineValue(low, p) << " | " << printMachineValue(high, p);
      }
      os << " | " << escape(p.doc) << " |\n";
    }
    os << '\n';
  }
}

/// One generated part, or nothing for a name that is none.
static std::optional<std::string> part(StringRef name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (name == "instructions")
    printInstructions(os);
  else if (name == "machines")
    printMachines(os);
  else
    return std::nullopt;
  return StringRef(text).rtrim('\n').str() + "\n";
}

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

/// The page with its generated parts made anew.
static std::optional<std::string> renew(StringRef page, StringRef file,
                                        Diagnostics &diags) {
  static constexpr StringRef begin = "<!-- begin generated: ";
  static constexpr StringRef end = "<!-- end generated -->";
  std::string out;
  bool any = false;
  StringRef rest = page;
  for (;;) {
    size_t at = rest.find(begin);
    if (at == StringRef::npos)
      break;
    StringRef name = rest.drop_front(at + begin.size()).split(" -->").first;
    size_t body = rest.find('\n', at), stop = rest.find(end, at);
    std::optional<std::string> text = part(name);
    unsigned line =
        unsigned(page.take_front(size_t(rest.data() - page.data()) + at)
                     .count('\n')) +
        1;
    if (!text || body == StringRef::npos || stop == StringRef::npos) {
      diags.error({file.str(), line, 1}, "no generated part is called '" +
                                             name + "', or it has no end");
      return std::nullopt;
    }
    out += rest.take_front(body + 1).str() + *text;
    rest = rest.drop_front(stop);
    any = true;
  }
  if (!any) {
    diags.error({file.str()}, "has no generated part");
    return std::nullopt;
  }
  return out + rest.str();
}

int sim::runManual(const Verb &verb, llvm::ArrayRef<StringRef> args) {
  FileArguments files;
  bool check = false, update = false;
  auto option = [&](StringRef arg) {
    check |= arg == "--check";
    update |= arg == "--update";
    return arg == "--check" || arg == "--update";
  };
  if (int code = parseFiles(verb, args, 1, files, option))
    return code;
  if (check && update)
    return usageError(verb, "--check and --update exclude each other");
  Diagnostics diags;
  StringRef file = files.files[0];
  if (!check && !update) {
    std::optional<std::string> text = part(file);
    if (!text)
      return usageError(verb, "no part is called '" + file + "'");
    (void)writeFile(files.output, *text, diags);
    return report(diags);
  }
  std::optional<std::string> page = readFile(file, diags);
  std::optional<std::string> renewed =
      page ? renew(*page, file, diags) : std::optional<std::string>();
  if (renewed && check && *renewed != *page)
    diags.error({file.str()},
                "is not current; run facet-sim manual --update on it");
  if (renewed && update)
    (void)writeFile(file, *renewed, diags);
  return report(diags);
}
