//===- Tensor.cpp - an array of Python as a tensor of C -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing is copied. In this order:
//
//   None                      an argument left out
//   3.5, 7, True              a scalar
//   buffer protocol           NumPy, JAX, memoryview, array.array
//   NumPy with ml_dtypes      bf16 and f8, which buffers cannot name
//   __dlpack__                PyTorch, JAX and everybody else
//
// The element type must be the kernel's: a conversion is the caller's to ask for.
// Whether the strides will do is for the kernel to say, which knows.
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"

#include <cmath>
#include <cstring>

using namespace facet::python;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static const Element elements[] = {
    {FACET_BOOL, "bool", "bool", 6, 8, '?', true},
    {FACET_I32, "i32", "int32", 0, 32, 'i', true},
    {FACET_I64, "i64", "int64", 0, 64, 'i', true},
    {FACET_F32, "f32", "float32", 2, 32, 'f', true},
    {FACET_F64, "f64", "float64", 2, 64, 'f', true},
    {FACET_F16, "f16", "float16", 2, 16, 'f', true},
    {FACET_BF16, "bf16", "bfloat16", 4, 16, 0, false},
    {FACET_F8E4M3, "f8e4m3", "float8_e4m3", 8, 8, 0, false},
    {FACET_F8E4M3FN, "f8e4m3fn", "float8_e4m3fn", 10, 8, 0, false},
    {FACET_F8E5M2, "f8e5m2", "float8_e5m2", 12, 8, 0, false},
    {FACET_I16, "i16", "int16", 0, 16, 'i', true},
    {FACET_I8, "i8", "int8", 0, 8, 'i', true},
    {FACET_U8, "u8", "uint8", 1, 8, 'u', true},
    {FACET_I4, "i4", "uint8", 0, 4, 'u', true},
    {FACET_U4, "u4", "uint8", 1, 4, 'u', true},
};

const Element &facet::python::elementOf(int32_t type) {
  for (const Element &element : elements)
    if (element.type == type)
      return element;
  throw nb::type_error("the kernel has an element type of a later version");
}

nb::object facet::python::numpyType(const Element &element) {
  nb::object numpy = nb::module_::import_("numpy");
  nb::object library =
      element.inNumpy ? numpy : nb::module_::import_("ml_dtypes");
  return numpy.attr("dtype")(
      library.attr(element.kind == '?' ? "bool_" : element.numpy));
}

/// The first word of the module that the type of `value` comes from.
Library facet::python::libraryOf(nb::handle value) {
  for (nb::handle type : nb::borrow<nb::tuple>(value.type().attr("__mro__"))) {
    nb::object module = nb::getattr(type, "__module__", nb::none());
    if (!nb::isinstance<nb::str>(module))
      continue;
    std::string name = nb::cast<std::string>(module);
    name = name.substr(0, name.find('.'));
    if (name == "numpy")
      return Library::NumPy;
    if (name == "torch")
      return Library::Torch;
    if (name == "jax" || name == "jaxlib")
      return Library::Jax;
  }
  return Library::Other;
}

void Tensor::Request::refuse(const std::string &what) const {
  std::string text = std::string(kernel) + ": '" + parameter.name + "' is " +
                     elementOf(parameter.type).name;
  for (int32_t axis = 0; axis < parameter.rank; ++axis)
    text += (axis ? ", " : "[") + std::string(parameter.axes[axis]) +
            (axis + 1 == parameter.rank ? "]" : "");
  throw nb::type_error((text + ", " + what).c_str());
}

static std::string typeName(nb::handle value) {
  return nb::cast<std::string>(value.type().attr("__name__"));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Tensor::~Tensor() {
  if (hasView)
    PyBuffer_Release(&view);
}

/// Makes room for the extents and strides of `rank` axes.
void Tensor::layOut(int32_t rank) {
  int64_t *memory = few;
  if (rank > 4) {
    many.reset(new int64_t[2 * size_t(rank)]);
    memory = many.get();
  }
  tensor.ndim = rank;
  tensor.shape = memory;
  tensor.strides = memory + rank;
}

void Tensor::set(nb::handle value, const facet_argument &parameter,
                 bool writable, const char *kernel) {
  if (value.is_none())
    return;
  Request request{value, parameter, elementOf(parameter.type), writable,
                  kernel};
  isGiven = true;
  tensor.device.device_type = 1; // kDLCPU
  tensor.dtype.code = request.element.code;
  tensor.dtype.bits = request.element.bits;
  tensor.dtype.lanes = 1;
  if (!setNumber(request) && !setBuffer(request, value, /*raw=*/false) &&
      !setNumpy(request))
    setDlpack(request);
  if (tensor.ndim != parameter.rank)
    request.refuse("not an array of " + std::to_string(tensor.ndim) +
                   (tensor.ndim == 1 ? " axis" : " axes"));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

template <typename T>
static void store(uint64_t &number, T value) {
  std::memcpy(&number, &value, sizeof(value));
}

bool Tensor::setNumber(const Request &request) {
  PyObject *value = request.value.ptr();
  bool isFloat = PyFloat_Check(value), isInt = PyLong_Check(value);
  if (request.parameter.rank != 0 || request.writable || (!isFloat && !isInt))
    return false;
  const Element &element = request.element;
  if (element.code == 2 && element.bits >= 32) {
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred())
      throw nb::python_error();
    if (element.bits == 64)
      store(this->number, number);
    else
      store(this->number, float(number));
  } else if (element.kind && element.code != 2) {
    if (!isInt)
      request.refuse("not a number with a fraction");
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    int bits = element.kind == '?' ? 1 : element.bits;
    bool isSigned = element.code == 0;
    long long least = isSigned ? -1LL << (bits - 1) : 0;
    long long most = isSigned ? ~least : (1LL << bits) - 1;
    if (overflow || number < least || number > most)
      request.refuse("too small for " +
                     nb::cast<std::string>(nb::str(request.value)));
    store(this->number, number);
  } else {
    // Rounded by NumPy or ml_dtypes, which have the type.
    nb::object array = nb::module_::import_("numpy").attr("asarray")(
        request.value, numpyType(element));
    nb::object bytes = array.attr("tobytes")();
    std::memcpy(&number, PyBytes_AsString(bytes.ptr()), element.bits / 8);
  }
  layOut(0);
  tensor.data = &number;
  return true;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The kind of elements that a format of the buffer protocol names; 0: another one.
static char kindOf(const char *format) {
  if (!format)
    return 'u';
  if (*format == '@' || *format == '=' || *format == '<')
    ++format; // the language's machines are little-endian
  if (!*format || format[1])
    return 0;
  if (std::strchr("efd", *format))
    return 'f';
  if (std::strchr("bhilqn", *format))
    return 'i';
  if (std::strchr("BHILQN", *format))
    return 'u';
  return *format == '?' ? '?' : 0;
}

/// With `raw`, `from` stands for the value: its elements are bits of the right type.
bool Tensor::setBuffer(const Request &request, nb::handle from, bool raw) {
  const Element &element = request.element;
  if (!PyObject_CheckBuffer(from.ptr()))
    return false;
  int flags = PyBUF_STRIDES | PyBUF_FORMAT;
  if (PyObject_GetBuffer(from.ptr(), &view,
                         request.writable ? flags | PyBUF_WRITABLE : flags)) {
    PyErr_Clear();
    if (request.writable && PyObject_GetBuffer(from.ptr(), &view, flags) == 0) {
      PyBuffer_Release(&view);
      request.refuse("which the kernel writes; this array is read-only");
    }
    PyErr_Clear();
    return false; // an element type that buffers cannot name
  }
  hasView = true;
  char kind = kindOf(view.format);
  // Two elements of four bits to a byte.
  int64_t perByte = element.bits == 4 ? 2 : 1;
  bool fits = perByte == 2
                  ? (kind == 'u' || kind == 'i') && view.itemsize == 1
                  : kind == element.kind && view.itemsize * 8 == element.bits;
  if (!raw && !fits) {
    nb::object type = nb::getattr(from, "dtype", nb::none());
    request.refuse(
        "not an array of " +
        (type.is_none()
             ? "format '" + std::string(view.format ? view.format : "B") + "'"
             : nb::cast<std::string>(nb::str(type))) +
        (perByte == 2 ? "; its elements are packed two per byte, in uint8"
                      : ""));
  }
  layOut(view.ndim);
  tensor.data = view.buf;
  for (int axis = 0; axis < view.ndim; ++axis) {
    bool last = axis + 1 == view.ndim;
    if (view.strides[axis] % view.itemsize)
      request.refuse(
          "not an array whose elements lie between each other's bytes");
    tensor.shape[axis] = view.shape[axis] * (last ? perByte : 1);
    tensor.strides[axis] =
        view.strides[axis] / view.itemsize * (last ? 1 : perByte);
  }
  return true;
}

/// bf16 and f8: the array of the same bits.
bool Tensor::setNumpy(const Request &request) {
  if (libraryOf(request.value) != Library::NumPy)
    return false;
  nb::object type = nb::getattr(request.value, "dtype", nb::none());
  std::string name = nb::cast<std::string>(nb::str(type));
  if (request.element.inNumpy || name != request.element.numpy)
    request.refuse("not an array of " + name);
  nb::object bits = request.value.attr("view")(
      request.element.bits == 16 ? "uint16" : "uint8");
  return setBuffer(request, bits, /*raw=*/true);
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

namespace {
/// DLManagedTensorVersioned up to its tensor.
struct Versioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(void *);
  uint64_t flags; ///< bit 0: read-only
  facet_dltensor tensor;
};
} // namespace

/// The capsule that `value` hands out, versioned if it can.
static nb::object capsuleOf(nb::handle value) {
  nb::object method = value.attr("__dlpack__");
  try {
    return method(nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_TypeError))
      throw;
  }
  return method();
}

void Tensor::setDlpack(const Request &request) {
  if (!nb::hasattr(request.value, "__dlpack__"))
    request.refuse("not a " + typeName(request.value));
  if (request.writable && libraryOf(request.value) == Library::Jax)
    request.refuse("which the kernel writes; arrays of JAX are read-only");
  keep = capsuleOf(request.value); // frees the memory when it dies
  const facet_dltensor *given;
  if (PyCapsule_IsValid(keep.ptr(), "dltensor_versioned")) {
    auto *managed = static_cast<const Versioned *>(
        PyCapsule_GetPointer(keep.ptr(), "dltensor_versioned"));
    if (managed->major != 1)
      request.refuse("not a tensor of a later DLPack");
    if (request.writable && (managed->flags & 1))
      request.refuse("which the kernel writes; this tensor is read-only");
    given = &managed->tensor;
  } else {
    given = static_cast<const facet_dltensor *>(
        PyCapsule_GetPointer(keep.ptr(), "dltensor"));
    if (!given)
      throw nb::python_error();
  }
  if (given->device.device_type != 1)
    request.refuse("not a tensor on a device of DLPack's kind " +
                   std::to_string(given->device.device_type) +
                   "; kernels run in the CPU's memory");
  const auto &type = given->dtype;
  if (type.code != request.element.code || type.bits != request.element.bits ||
      type.lanes != 1) {
    nb::object name = nb::getattr(request.value, "dtype", nb::none());
    request.refuse(
        name.is_none()
            ? "not a tensor of DLPack type " + std::to_string(type.code) +
                  " with " + std::to_string(type.bits) + " bits"
            : "not a tensor of " + nb::cast<std::string>(nb::str(name)));
  }
  tensor = *given;
}
