//===- Module.cpp - facet._facet ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface of the compiler as Python sees it: compile and emit, which give
// messages back as they come, and the callable Kernel. What is pleasant to use is
// written on top of it in Python.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

using namespace facet::python;
using namespace nb::literals;

namespace {

/// facetc_options whose strings stay alive.
class Options {
public:
  Options(const std::string &name, const std::string &target,
          const std::vector<std::string> &defines,
          const std::vector<std::string> &includeDirs,
          const std::vector<std::string> &warnings) {
    options.name = name.c_str();
    options.target = target.empty() ? nullptr : target.c_str();
    options.defines = list(lists[0], defines);
    options.include_dirs = list(lists[1], includeDirs);
    options.warnings = list(lists[2], warnings);
  }
  facetc_options options = FACETC_OPTIONS_INIT;

private:
  static const char *const *list(std::vector<const char *> &pointers,
                                 const std::vector<std::string> &texts) {
    for (const std::string &text : texts)
      pointers.push_back(text.c_str());
    pointers.push_back(nullptr);
    return pointers.data();
  }
  std::vector<const char *> lists[3];
};

/// (text of all, [(severity, file, line, column, end column, group, text), ...]).
nb::tuple messagesOf(facetc_messages *messages) {
  std::unique_ptr<facetc_messages, void (*)(facetc_messages *)> owner(
      messages, facetc_messages_free);
  nb::list list;
  for (size_t i = 0; i < facetc_message_count(messages); ++i) {
    facetc_message message = facetc_message_at(messages, i);
    list.append(nb::make_tuple(message.severity, message.file, message.line,
                               message.column, message.end_column,
                               message.group, message.text));
  }
  return nb::make_tuple(facetc_messages_text(messages), list);
}

nb::tuple compile(const std::string &text, const std::string &name,
                  const std::string &target,
                  const std::vector<std::string> &defines,
                  const std::vector<std::string> &includeDirs,
                  const std::vector<std::string> &warnings) {
  Options options(name, target, defines, includeDirs, warnings);
  facetc_messages *messages = nullptr;
  facetc_module *compiled;
  {
    nb::gil_scoped_release release;
    compiled =
        facetc_compile(text.data(), text.size(), &options.options, &messages);
  }
  nb::list kernels;
  if (compiled) {
    Module module(compiled, facetc_module_free);
    for (size_t i = 0; i < facetc_kernel_count(compiled); ++i)
      kernels.append(
          std::make_shared<Kernel>(module, facetc_kernel_at(compiled, i)));
  }
  return nb::make_tuple(kernels, messagesOf(messages));
}

/// What `produce` makes, without the interpreter's lock, as `wrap` has it; None when it
/// makes nothing. The messages come with it.
template <typename Produce, typename Wrap>
nb::tuple produced(Produce produce, Wrap wrap) {
  facetc_messages *messages = nullptr;
  char *bytes;
  size_t length = 0;
  {
    nb::gil_scoped_release release;
    bytes = produce(&length, &messages);
  }
  nb::object result = nb::none();
  if (bytes)
    result = wrap(bytes, length);
  facetc_free(bytes);
  return nb::make_tuple(result, messagesOf(messages));
}

nb::tuple emit(const std::string &text, const std::string &kind,
               const std::string &name, const std::string &target,
               const std::vector<std::string> &defines,
               const std::vector<std::string> &includeDirs,
               const std::vector<std::string> &warnings) {
  Options options(name, target, defines, includeDirs, warnings);
  return produced(
      [&](size_t *length, facetc_messages **messages) {
        return facetc_emit(text.data(), text.size(), kind.c_str(),
                           &options.options, length, messages);
      },
      [](const char *bytes, size_t length) {
        return nb::bytes(bytes, length);
      });
}

/// As emit; `kernel` and `form` as facetc_explain takes them.
nb::tuple explain(const std::string &text, const std::string &kernel,
                  const std::string &form, const std::string &name,
                  const std::string &target,
                  const std::vector<std::string> &defines,
                  const std::vector<std::string> &includeDirs,
                  const std::vector<std::string> &warnings) {
  Options options(name, target, defines, includeDirs, warnings);
  return produced(
      [&](size_t *length, facetc_messages **messages) {
        return facetc_explain(text.data(), text.size(), kernel.c_str(),
                              form.c_str(), &options.options, length, messages);
      },
      [](const char *bytes, size_t length) { return nb::str(bytes, length); });
}

/// A run that came to its end, for as long as somebody wants results of it.
struct Kept {
  Simulation simulation;
  /// None when there is no result of that kind.
  nb::object result(const std::string &kind) const {
    size_t length = 0;
    char *bytes =
        facetc_simulation_result(simulation.get(), kind.c_str(), &length);
    nb::object result = nb::none();
    if (bytes)
      result = nb::bytes(bytes, length);
    facetc_free(bytes);
    return result;
  }
};

/// (results, Kept or None, messages).
nb::tuple simulate(Kernel &kernel, const std::string &text,
                   const std::string &name, const std::string &target,
                   const std::vector<std::string> &defines,
                   const std::vector<std::string> &includeDirs,
                   const std::vector<std::string> &warnings,
                   const nb::tuple &args, const nb::dict &kwargs) {
  Options options(name, target, defines, includeDirs, warnings);
  facetc_messages *messages = nullptr;
  auto [answer, simulation] =
      kernel.simulate(text, options.options, nb::borrow<nb::args>(args),
                      nb::borrow<nb::kwargs>(kwargs), messages);
  nb::object kept = nb::none();
  if (simulation)
    kept = nb::cast(Kept{std::move(simulation)});
  return nb::make_tuple(answer, kept, messagesOf(messages));
}

/// The information of an object as plain values.
nb::dict describe(const Kernel &kernel) {
  const facet_info &info = kernel.info();
  auto texts = [](const char *const *list, int32_t count) {
    nb::list result;
    for (int32_t i = 0; i < count; ++i)
      result.append(list[i]);
    return nb::tuple(result);
  };
  static constexpr const char *modes[] = {"in", "const", "inout", "out"};
  nb::list arguments, levels;
  for (int32_t i = 0; i < info.argument_count; ++i) {
    const facet_argument &argument = info.arguments[i];
    arguments.append(nb::make_tuple(
        argument.name, elementOf(argument.type).name, modes[argument.mode],
        texts(argument.axes, argument.rank)));
  }
  for (int32_t i = 0; i < info.level_count; ++i)
    levels.append(info.levels[i]);
  nb::dict result;
  result["name"] = info.name;
  result["documentation"] = info.documentation ? info.documentation : "";
  result["version"] = info.version;
  result["hash"] = info.hash;
  result["plan"] = info.plan;
  result["sizes"] = texts(info.sizes, info.size_count);
  result["arguments"] = nb::tuple(arguments);
  result["promises"] = texts(info.promises, info.require_count);
  result["levels"] = nb::tuple(levels);
  return result;
}

} // namespace

NB_MODULE(_facet, m) {
  // Operators of PyTorch and functions of JAX live as long as the process.
  nb::set_leak_warnings(false);
  nb::class_<Kernel>(m, "Kernel")
      .def(nb::init<const Kernel &>())
      .def("__call__",
           [](Kernel &self, nb::args args, nb::kwargs kwargs) {
             return self.call(args, kwargs);
           })
      .def("describe", &describe)
      .def("_simulate", &simulate)
      .def("result_shapes",
           [](const Kernel &self, nb::args shapes, nb::kwargs sizes) {
             return self.resultShapes(shapes, sizes);
           })
      .def("flops", [](const Kernel &self, nb::kwargs sizes) {
        return self.flops(sizes);
      });
  nb::class_<Kept>(m, "Simulation").def("result", &Kept::result);
  m.def("explain", &explain, "text"_a, "kernel"_a, "form"_a, "name"_a,
        "target"_a, "defines"_a, "include_dirs"_a, "warnings"_a);
  m.def("compile", &compile, "text"_a, "name"_a, "target"_a, "defines"_a,
        "include_dirs"_a, "warnings"_a);
  m.def("emit", &emit, "text"_a, "kind"_a, "name"_a, "target"_a, "defines"_a,
        "include_dirs"_a, "warnings"_a);
  m.def("version", &facetc_version);
}
