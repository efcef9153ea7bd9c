//===- EmitHeader.cpp - the header of compiled kernels --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a C or C++ programmer reads: per kernel its documentation, what each
// argument is, what is refused, a call to copy, then the prototypes:
//
//   /** y = gelu(x·w + b)
//    *
//    *  x   bf16 [M, K], rows ld_x apart
//    *  ...
//    */
//   int linear(int64_t dim_M, ..., const facet_exec *exec);
//
// The prototypes are spelled from the lists of formals that the functions are
// built from. Text of the user's goes into comments only after it has lost what
// would end them.
//
//===----------------------------------------------------------------------===//

#include "Signature.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace facet;
using namespace facet::interface;
using kernel::ParamMode;

//===----------------------------------------------------------------------===//
// Comments
//===----------------------------------------------------------------------===//

/// `text` as it may stand inside a block comment.
static std::string forComment(StringRef text) {
  std::string result;
  for (char c : text) {
    // The ends and starts of comments, and the trigraphs of C99.
    bool isPair = !result.empty() && ((result.back() == '*' && c == '/') ||
                                      (result.back() == '/' && c == '*') ||
                                      (result.back() == '?' && c == '?'));
    if (isPair)
      result += ' ';
    unsigned char byte = c;
    if (byte >= ' ' && byte != 0x7f)
      result += c;
    else if (c == '\t')
      result += ' ';
  }
  return result;
}

/// Writes lines that begin with " *  ".
static void writeComment(raw_ostream &os, StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    std::string clean = StringRef(forComment(line)).rtrim().str();
    os << (clean.empty() ? " *" : " *  ") << clean << "\n";
  }
}

//===----------------------------------------------------------------------===//
// Prototypes
//===----------------------------------------------------------------------===//

static std::string spellFormal(const Signature &signature, Formal formal) {
  switch (formal.kind) {
  case Formal::Size:
    return "int64_t dim_" + signature.sizes[formal.index];
  case Formal::Threads:
    return "int threads";
  case Formal::Target:
    return "void *dst";
  case Formal::Exec:
    return "const facet_exec *exec";
  case Formal::TensorsIn:
    return "const facet_dltensor *const *in";
  case Formal::TensorsOut:
    return "facet_dltensor *const *out";
  default:
    break;
  }
  const Parameter &parameter = signature.parameters[formal.index];
  switch (formal.kind) {
  case Formal::Packed:
    return "const void *" + parameter.cName;
  case Formal::Leading:
    return "int64_t ld_" + parameter.name;
  case Formal::Strides:
    return "const int64_t strides_" + parameter.name + "[" +
           std::to_string(parameter.numStrides()) + "]";
  default:
    break;
  }
  std::string type = parameter.element->cType;
  if (parameter.isByValue())
    return type + " " + parameter.cName;
  return (parameter.isWritten() ? "" : "const ") + type + " *" +
         parameter.cName;
}

/// `int name(...);`, broken at commas before column 80.
static void writePrototype(raw_ostream &os, const Signature &signature,
                           StringRef result, StringRef name,
                           ArrayRef<Formal> formals) {
  std::string line =
      (result + (result.ends_with("*") ? "" : " ") + name + "(").str();
  if (formals.empty())
    line += "void";
  for (auto [i, formal] : llvm::enumerate(formals)) {
    std::string text = spellFormal(signature, formal);
    text += i + 1 == formals.size() ? "" : ",";
    if (i != 0 && line.size() + 1 + text.size() + 2 > 80) {
      os << line << "\n";
      line = "   ";
    }
    if (i != 0)
      line += ' ';
    line += text;
  }
  os << line << ");\n";
}

//===----------------------------------------------------------------------===//
// What a kernel's comment says
//===----------------------------------------------------------------------===//

static std::string describeParameter(const Signature &signature,
                                     const Parameter &parameter) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << parameter.element->spelling;
  if (parameter.rank() != 0) {
    os << " [";
    llvm::interleaveComma(parameter.axes, os,
                          [&](kernel::AxisAttr axis) { os << spell(axis); });
    os << "]";
  } else if (parameter.isWritten()) {
    os << ", one element";
  }
  switch (parameter.mode) {
  case ParamMode::Const:
    os << (parameter.isPackable() ? ", constant: may be packed" : ", constant");
    break;
  case ParamMode::Inout:
    os << ", read and written";
    break;
  case ParamMode::Out:
    os << ", written";
    break;
  case ParamMode::In:
    break;
  }
  if (parameter.rank() == 2)
    os << "; rows are ld_" << parameter.name << " elements apart";
  else if (parameter.rank() > 2)
    os << "; strides_" << parameter.name << " in elements, NULL: dense";
  if (parameter.element->isNibble())
    os << "; two per byte, low nibble first";
  return text;
}

/// A call to copy: dense arrays, variables named as sizes and arguments.
static std::string exampleCall(const Signature &signature) {
  std::string text = signature.cName + "(";
  SmallVector<Formal> formals = signature.call(/*packed=*/false);
  size_t column = text.size();
  auto put = [&](StringRef word, bool isLast) {
    if (column + word.size() > 64) {
      text += "\n        ";
      column = 8;
    }
    text += word;
    column += word.size() + 2;
    text += isLast ? "" : ", ";
  };
  for (Formal formal : formals) {
    switch (formal.kind) {
    case Formal::Size:
      put(signature.sizes[formal.index], false);
      break;
    case Formal::Data: {
      const Parameter &parameter = signature.parameters[formal.index];
      bool isAddress = parameter.rank() == 0 && parameter.isWritten();
      put((isAddress ? "&" : "") + parameter.cName, false);
      break;
    }
    case Formal::Leading: {
      std::string extent;
      for (Attribute dim :
           signature.parameters[formal.index].axes.back().getDims()) {
        extent += extent.empty() ? "" : " * ";
        auto name = dyn_cast<StringAttr>(dim);
        extent +=
            name ? name.str() : std::to_string(cast<IntegerAttr>(dim).getInt());
      }
      put(extent, false);
      break;
    }
    case Formal::Strides:
      put("NULL", false);
      break;
    default:
      put("facet_default_exec()", true);
      break;
    }
  }
  StringRef trimmed = StringRef(text).rtrim();
  return (trimmed + ")").str();
}

static void writeKernel(raw_ostream &os, const Signature &signature) {
  os << "\n/** ";
  if (signature.documentation.empty())
    os << "Kernel " << signature.name << ".\n";
  else {
    auto [first, rest] = StringRef(signature.documentation).split('\n');
    os << StringRef(forComment(first)).trim() << "\n";
    if (!rest.empty())
      writeComment(os, rest);
  }
  os << " *\n";
  size_t width = 0;
  for (const Parameter &parameter : signature.parameters)
    width = std::max(width, parameter.cName.size());
  for (const Parameter &parameter : signature.parameters) {
    std::string name = parameter.cName;
    name.resize(width + 2, ' ');
    writeComment(os, name + describeParameter(signature, parameter));
  }
  for (auto [i, values] : llvm::enumerate(signature.fixed)) {
    if (values.empty())
      continue;
    std::string text = "dim_" + signature.sizes[i] + " is ";
    for (auto [j, value] : llvm::enumerate(values))
      text += (j == 0                   ? ""
               : j + 1 == values.size() ? " or "
                                        : ", ") +
              std::to_string(value);
    writeComment(os, text + ", as compiled; else FACET_E_FIXED");
  }
  os << " *\n";
  writeComment(
      os, "Results share no memory with anything else. Returns FACET_OK, "
          "or a\nnegative code (facet_strerror) and has written nothing; "
          "exec->error says\nwhich argument. exec may be NULL: one thread, "
          "64 KiB of scratch at most.");
  for (auto [i, promise] : llvm::enumerate(signature.promises))
    writeComment(os, llvm::formatv("FACET_E_REQUIRE{0}: {1} does not hold",
                                   i ? " - " + std::to_string(i) : "", promise)
                         .str());
  os << " *\n";
  std::string call = exampleCall(signature);
  writeComment(os, "  // #include <facet/runtime.h>, link -lfacet-runtime\n"
                   "  int code = " +
                       call + ";\n" +
                       "  if (code != FACET_OK)\n"
                       "    fprintf(stderr, \"" +
                       signature.name + ": %s\\n\", facet_strerror(code));");
  os << " */\n";
  writePrototype(os, signature, "int", signature.cName,
                 signature.call(/*packed=*/false));

  os << "\n/** Bytes of workspace that a call with these sizes needs; SIZE_MAX "
        "when it\n *  would be refused. */\n";
  writePrototype(os, signature, "size_t", signature.symbol("workspace"),
                 signature.workspace());
  for (auto [i, parameter] : llvm::enumerate(signature.parameters)) {
    if (!parameter.isPackable())
      continue;
    os << "\n/** Packs " << parameter.cName << " once for many calls of "
       << signature.symbol("packed") << ": dst has\n *  "
       << signature.symbol("pack_" + parameter.name)
       << "_bytes bytes and is 64-byte aligned. */\n";
    writePrototype(os, signature, "size_t",
                   signature.symbol("pack_" + parameter.name + "_bytes"),
                   signature.packBytes(i));
    writePrototype(os, signature, "int",
                   signature.symbol("pack_" + parameter.name),
                   signature.pack(i));
  }
  if (signature.hasPackable()) {
    os << "\n/** " << signature.cName << " with packed operands. */\n";
    writePrototype(os, signature, "int", signature.symbol("packed"),
                   signature.call(/*packed=*/true));
  }
  os << "\n/** " << signature.cName
     << " on DLTensors: arguments in `in`, results in `out`, in the order\n"
        " *  above; scalars have no axes; NULL leaves an argument out. */\n";
  writePrototype(os, signature, "int", signature.symbol("dl"),
                 signature.tensors());
  os << "\n/** What the object knows about itself; constant. */\n";
  writePrototype(os, signature, "const facet_info *", signature.symbol("info"),
                 {});
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// From the file's name and, because two folders may hold files of one name, from
/// what it declares.
static std::string includeGuard(StringRef fileName,
                                ArrayRef<Signature> signatures) {
  std::string guard = "FACET_";
  for (char c : llvm::sys::path::filename(fileName))
    guard += llvm::isAlnum(c) ? llvm::toUpper(c) : '_';
  std::string names;
  for (const Signature &signature : signatures)
    names += signature.cName + ",";
  uint32_t hash = llvm::xxh3_64bits(names);
  return llvm::formatv("{0}_{1:X-8}", guard, hash).str();
}

FailureOr<std::string> facet::emitHeader(ArrayRef<kernel::FuncOp> kernels,
                                         StringRef fileName,
                                         const InterfaceOptions &options) {
  std::vector<Signature> signatures;
  std::optional<SymbolTable>
      symbols; // to look up in it without a walk each time
  if (!kernels.empty())
    symbols.emplace(kernels.front()->getParentOp());
  for (kernel::FuncOp kernel : kernels) {
    FailureOr<Signature> signature = describe(kernel, options, &*symbols);
    if (failed(signature))
      return failure();
    signatures.push_back(std::move(*signature));
  }
  std::string text, guard = includeGuard(fileName, signatures);
  llvm::raw_string_ostream os(text);
  os << "/* " << forComment(llvm::sys::path::filename(fileName))
     << " - made by facet " << forComment(options.version)
     << "; do not edit. */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include <facet/abi.h>\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const Signature &signature : signatures)
    writeKernel(os, signature);
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* " << guard << " */\n";
  return text;
}
