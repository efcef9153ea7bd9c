//===- Kernel.cpp - a compiled kernel as a callable of Python -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   y = linear(x, w, b)            results are allocated by the library of `x`
//   linear(x, w, b, out=y)         or are the caller's
//
// The sizes that results need are found in the shapes of the arguments; whether all
// shapes fit together is for the kernel to check, which says so by name. The GIL is
// released while it runs.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "facet/runtime.h"

#include <cstdlib>
#include <cstring>

using namespace facet::python;

//===----------------------------------------------------------------------===//
// What the kernel takes
//===----------------------------------------------------------------------===//

/// Reads "M", "128" or "(Q, 128)".
static std::vector<Dim> readAxis(const facet_info &info, const char *text) {
  std::vector<Dim> dims;
  for (std::string rest = text; !rest.empty();) {
    size_t begin = rest.find_first_not_of("(, )");
    if (begin == std::string::npos)
      break;
    size_t end = std::min(rest.find_first_of(", )", begin), rest.size());
    std::string word = rest.substr(begin, end - begin);
    rest.erase(0, end);
    Dim dim = {-1, std::strtoll(word.c_str(), nullptr, 10)};
    for (int32_t i = 0; i < info.size_count; ++i)
      if (word == info.sizes[i])
        dim.size = i;
    dims.push_back(dim);
  }
  return dims;
}

Kernel::Kernel(Module module, const facetc_kernel *kernel)
    : module(std::move(module)), kernel(kernel),
      information(facetc_kernel_info(kernel)) {
  for (int32_t i = 0; i < information->argument_count; ++i) {
    Parameter parameter;
    parameter.info = &information->arguments[i];
    parameter.element = &elementOf(parameter.info->type);
    for (int32_t axis = 0; axis < parameter.info->rank; ++axis)
      parameter.axes.push_back(
          readAxis(*information, parameter.info->axes[axis]));
    (parameter.info->mode == FACET_OUT ? results : inputs)
        .push_back(std::move(parameter));
  }
}

std::string Kernel::said(const std::string &what) const {
  return std::string(information->name) + ": " + what;
}

//===----------------------------------------------------------------------===//
// Sorting out a call
//===----------------------------------------------------------------------===//

struct Kernel::Given {
  std::vector<nb::handle> inputs, results; ///< without an object: not given
  Sizes sizes;                             ///< -1: not given
  bool hasSizes = false;
};

static int64_t toSize(nb::handle value) {
  int64_t size = PyLong_AsLongLong(value.ptr());
  if (size == -1 && PyErr_Occurred())
    throw nb::python_error();
  return size;
}

void Kernel::sort(const nb::args &args, const nb::kwargs &kwargs,
                  Given &given) const {
  given.inputs.resize(inputs.size());
  given.results.resize(results.size());
  given.sizes.assign(information->size_count, -1);
  if (args.size() > inputs.size())
    throw nb::type_error(said("takes " + std::to_string(inputs.size()) +
                              " arguments, " + std::to_string(args.size()) +
                              " are given")
                             .c_str());
  for (size_t i = 0; i < args.size(); ++i)
    given.inputs[i] = args[i];

  for (auto [key, value] : kwargs) {
    const char *name = PyUnicode_AsUTF8AndSize(key.ptr(), nullptr);
    if (!name)
      throw nb::python_error();
    bool known = false;
    for (size_t i = 0; i < inputs.size() && !known; ++i)
      if (!std::strcmp(name, inputs[i].info->name)) {
        if (given.inputs[i].is_valid())
          throw nb::type_error(
              said("'" + std::string(name) + "' is given twice").c_str());
        given.inputs[i] = value;
        known = true;
      }
    for (int32_t i = 0; i < information->size_count && !known; ++i)
      if (!std::strcmp(name, information->sizes[i])) {
        given.sizes[i] = toSize(value);
        if (given.sizes[i] < 0)
          throw nb::value_error(said("size '" + std::string(name) + "' is " +
                                     std::to_string(given.sizes[i]))
                                    .c_str());
        given.hasSizes = true;
        known = true;
      }
    if (!known && !std::strcmp(name, "out")) {
      known = true;
      nb::object list = results.size() == 1 && !nb::isinstance<nb::tuple>(value)
                            ? nb::object(nb::make_tuple(value))
                            : nb::borrow(value);
      if (!nb::isinstance<nb::tuple>(list) || nb::len(list) != results.size())
        throw nb::type_error(said("'out' is a tuple of " +
                                  std::to_string(results.size()) +
                                  (results.size() == 1 ? " array" : " arrays"))
                                 .c_str());
      for (size_t i = 0; i < results.size(); ++i) // kwargs keeps them alive
        given.results[i] = PyTuple_GetItem(list.ptr(), Py_ssize_t(i));
    }
    if (!known)
      throw nb::type_error(
          said("there is no argument '" + std::string(name) + "'").c_str());
  }

  for (size_t i = 0; i < inputs.size(); ++i)
    if (!given.inputs[i].is_valid())
      throw nb::type_error(said("no value for '" +
                                std::string(inputs[i].info->name) +
                                "'; None leaves it out")
                               .c_str());
}

/// Refuses a size given by name that the shape of an array contradicts.
void Kernel::compare(const Parameter &parameter, const Tensor &tensor,
                     const Sizes &sizes) const {
  if (!tensor.isPresent())
    return;
  for (size_t axis = 0; axis < parameter.axes.size(); ++axis) {
    const std::vector<Dim> &dims = parameter.axes[axis];
    int32_t size = dims.size() == 1 ? dims.front().size : -1;
    int64_t extent = tensor.extent(int32_t(axis));
    if (size >= 0 && sizes[size] >= 0 && sizes[size] != extent)
      throw nb::value_error(
          said("size '" + std::string(information->sizes[size]) + "' is " +
               std::to_string(sizes[size]) + ", and '" + parameter.info->name +
               "' has " + std::to_string(extent) + " in axis " +
               std::to_string(axis))
              .c_str());
  }
}

/// Finds sizes that are -1 in the shapes of the arguments.
void Kernel::solve(const std::vector<const int64_t *> &shapes,
                   Sizes &sizes) const {
  // Plain axes first; then groups, as often as that finds something.
  for (bool groups = false, again = true; again || !groups;) {
    again = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!shapes[i])
        continue;
      for (size_t axis = 0; axis < inputs[i].axes.size(); ++axis) {
        const std::vector<Dim> &dims = inputs[i].axes[axis];
        int32_t unknown = -1, unknowns = 0;
        int64_t product = 1;
        for (Dim dim : dims) {
          bool isKnown = dim.size < 0 || sizes[dim.size] >= 0;
          unknowns += !isKnown;
          if (!isKnown)
            unknown = dim.size;
          else if (__builtin_mul_overflow(
                       product, dim.size < 0 ? dim.number : sizes[dim.size],
                       &product))
            product = 0;
        }
        int64_t extent = shapes[i][axis];
        if (unknowns != 1 || product == 0 || (dims.size() > 1) != groups)
          continue;
        if (extent % product)
          throw nb::value_error(
              said("'" + std::string(inputs[i].info->name) + "', axis " +
                   std::to_string(axis) + ": " + inputs[i].info->axes[axis] +
                   " is a multiple of " + std::to_string(product) + ", not " +
                   std::to_string(extent))
                  .c_str());
        sizes[unknown] = extent / product;
        again = groups;
      }
    }
    if (!groups)
      groups = again = true;
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

nb::list Kernel::shapeOf(const Parameter &result, const Sizes &sizes) const {
  nb::list shape;
  for (size_t axis = 0; axis < result.axes.size(); ++axis) {
    int64_t extent = 1;
    for (Dim dim : result.axes[axis]) {
      if (dim.size >= 0 && sizes[dim.size] < 0)
        throw nb::type_error(said("no argument says what '" +
                                  std::string(information->sizes[dim.size]) +
                                  "' is; give " + information->sizes[dim.size] +
                                  "= or out=")
                                 .c_str());
      if (__builtin_mul_overflow(
              extent, dim.size < 0 ? dim.number : sizes[dim.size], &extent))
        throw nb::value_error(said("a result is too large").c_str());
    }
    bool halved = result.element->bits == 4 && axis + 1 == result.axes.size();
    shape.append(halved ? (extent + 1) / 2 : extent);
  }
  return shape;
}

nb::tuple Kernel::resultShapes(const nb::args &given,
                               const nb::kwargs &kwargs) const {
  if (given.size() != inputs.size())
    throw nb::type_error(said("takes " + std::to_string(inputs.size()) +
                              " shapes, " + std::to_string(given.size()) +
                              " are given")
                             .c_str());
  std::vector<std::vector<int64_t>> shapes(inputs.size());
  std::vector<const int64_t *> known(inputs.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (given[i].is_none())
      continue;
    for (nb::handle extent : nb::borrow(given[i]))
      shapes[i].push_back(toSize(extent));
    if (shapes[i].size() != inputs[i].axes.size())
      throw nb::type_error(
          said("'" + std::string(inputs[i].info->name) + "' has " +
               std::to_string(inputs[i].axes.size()) + " axes, not " +
               std::to_string(shapes[i].size()))
              .c_str());
    known[i] = shapes[i].data();
  }
  Sizes sizes = sizesNamed(kwargs);
  solve(known, sizes);
  nb::list answer;
  for (const Parameter &result : results)
    answer.append(nb::tuple(shapeOf(result, sizes)));
  return nb::tuple(answer);
}

nb::object Kernel::allocate(Parameter &result, const Sizes &sizes,
                            Library library) {
  nb::list shape = shapeOf(result, sizes);
  if (library == Library::Torch) {
    nb::object torch = nb::module_::import_("torch");
    nb::object type = nb::getattr(torch, result.element->numpy, nb::none());
    if (type.is_none())
      throw nb::type_error(said("PyTorch has no elements of type " +
                                std::string(result.element->name) +
                                "; give out=")
                               .c_str());
    return torch.attr("empty")(shape, nb::arg("dtype") = type);
  }
  if (!numpyEmpty.is_valid())
    numpyEmpty = nb::module_::import_("numpy").attr("empty");
  if (!result.numpyType.is_valid())
    result.numpyType = numpyType(*result.element);
  return numpyEmpty(shape, result.numpyType);
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

void Kernel::fail(int code) const {
  char text[400];
  const facet_error *error = facet_last_error();
  if (error->code == code)
    facet_describe_error(error, text, sizeof text);
  else
    std::snprintf(text, sizeof text, "%s: %s", information->name,
                  facet_strerror(code));
  std::string message = text;
  PyObject *type = PyExc_ValueError;
  switch (code) {
  case FACET_E_TYPE:
  case FACET_E_RANK:
  case FACET_E_NULL:
    type = PyExc_TypeError;
    break;
  case FACET_E_STRIDE:
    message += "; numpy.ascontiguousarray() makes a dense copy";
    break;
  case FACET_E_INDEX:
    type = PyExc_IndexError;
    break;
  case FACET_E_WORKSPACE:
    type = PyExc_MemoryError;
    break;
  case FACET_E_LEVEL:
  case FACET_E_TASK:
  case FACET_E_EXEC:
    type = PyExc_RuntimeError;
    break;
  default:
    break;
  }
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

template <typename Run>
nb::object Kernel::invoke(const nb::args &args, const nb::kwargs &kwargs,
                          Run run) {
  Given given;
  sort(args, kwargs, given);

  // Room for the usual number of parameters without asking for memory.
  constexpr size_t usual = 6;
  size_t count = inputs.size() + results.size();
  Tensor few[usual];
  std::unique_ptr<Tensor[]> many;
  const facet_dltensor *inFew[usual];
  facet_dltensor *outFew[usual];
  std::unique_ptr<facet_dltensor *[]> lists;
  Tensor *tensors = few;
  const facet_dltensor **in = inFew;
  facet_dltensor **out = outFew;
  if (count > usual) {
    many.reset(new Tensor[count]);
    lists.reset(new facet_dltensor *[count]);
    tensors = many.get();
    in = const_cast<const facet_dltensor **>(lists.get());
    out = lists.get() + inputs.size();
  }

  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors[i].set(given.inputs[i], *inputs[i].info,
                   inputs[i].info->mode == FACET_INOUT, information->name);
    in[i] = tensors[i].get();
    if (given.hasSizes)
      compare(inputs[i], tensors[i], given.sizes);
  }

  bool allocates = false;
  for (nb::handle result : given.results)
    allocates |= !result.is_valid();
  Library library = Library::None;
  if (allocates) {
    std::vector<const int64_t *> shapes;
    for (size_t i = 0; i < inputs.size(); ++i)
      shapes.push_back(tensors[i].shape());
    solve(shapes, given.sizes);
    for (size_t i = 0; i < inputs.size() && library == Library::None; ++i)
      if (inputs[i].info->rank && !given.inputs[i].is_none())
        library = libraryOf(given.inputs[i]);
  }
  nb::object answer = nb::none();
  nb::list answers;
  for (size_t i = 0; i < results.size(); ++i) {
    nb::object result = given.results[i].is_valid()
                            ? nb::borrow(given.results[i])
                            : allocate(results[i], given.sizes, library);
    Tensor &tensor = tensors[inputs.size() + i];
    tensor.set(result, *results[i].info, /*writable=*/true, information->name);
    out[i] = tensor.get();
    if (given.hasSizes)
      compare(results[i], tensor, given.sizes);
    if (results.size() == 1)
      answer = result;
    else
      answers.append(result);
  }

  run(in, out);

  if (allocates && library == Library::Jax) {
    nb::object asArray = nb::module_::import_("jax.numpy").attr("asarray");
    if (results.size() == 1)
      return asArray(answer);
    nb::list converted;
    for (nb::handle array : answers)
      converted.append(asArray(array));
    return nb::tuple(converted);
  }
  return results.size() < 2 ? answer : nb::object(nb::tuple(answers));
}

nb::object Kernel::call(const nb::args &args, const nb::kwargs &kwargs) {
  return invoke(args, kwargs,
                [&](const facet_dltensor *const *in, facet_dltensor **out) {
                  const facet_exec *exec = facet_default_exec();
                  int code;
                  {
                    nb::gil_scoped_release release;
                    code = facetc_call(kernel, in, out, exec);
                  }
                  if (code != FACET_OK)
                    fail(code);
                });
}

std::pair<nb::object, Simulation>
Kernel::simulate(const std::string &text, const facetc_options &options,
                 const nb::args &args, const nb::kwargs &kwargs,
                 facetc_messages *&messages) {
  Simulation simulation;
  nb::object answer = invoke(
      args, kwargs, [&](const facet_dltensor *const *in, facet_dltensor **out) {
        nb::gil_scoped_release release;
        simulation.reset(facetc_simulate(text.data(), text.size(),
                                         information->name, &options, in,
                                         inputs.size(), out, results.size(),
                                         &messages),
                         facetc_simulation_free);
      });
  return {std::move(answer), std::move(simulation)};
}

Kernel::Sizes Kernel::sizesNamed(const nb::kwargs &given) const {
  Sizes sizes(information->size_count, -1);
  for (auto [key, value] : given) {
    std::string name = nb::cast<std::string>(key);
    bool known = false;
    for (int32_t i = 0; i < information->size_count; ++i)
      if (name == information->sizes[i]) {
        sizes[i] = toSize(value);
        known = true;
      }
    if (!known)
      throw nb::type_error(said("there is no size '" + name + "'").c_str());
  }
  return sizes;
}

double Kernel::flops(const nb::kwargs &given) const {
  Sizes sizes = sizesNamed(given);
  for (int32_t i = 0; i < information->size_count; ++i)
    if (sizes[i] < 0)
      throw nb::type_error(
          said("no value for '" + std::string(information->sizes[i]) + "'")
              .c_str());
  return information->flops(sizes.data());
}
