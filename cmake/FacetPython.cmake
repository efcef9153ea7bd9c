# The Python package in build/python, for the interpreter that runs the tests. Without
# nanobind, or with sanitizers (the interpreter has none), it is left out and its
# tests say so.

set(FACET_PYTHON "" CACHE FILEPATH "Python with NumPy and ml_dtypes for the tests; empty: build/venv")
set(interpreter "${FACET_PYTHON}")
if(NOT interpreter)
  set(interpreter "${PROJECT_SOURCE_DIR}/build/venv/bin/python")
endif()
execute_process(COMMAND "${interpreter}" -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(FACET_HAS_PYTHON_PACKAGE OFF)
if(nanobind_DIR AND NOT FACET_SANITIZE)
  set(Python_EXECUTABLE "${interpreter}")
  find_package(Python COMPONENTS Interpreter Development.Module)
  if(Python_Development.Module_FOUND)
    set(FACET_HAS_PYTHON_PACKAGE ON)
    add_subdirectory(python)
  endif()
endif()
message(STATUS "Python package: ${FACET_HAS_PYTHON_PACKAGE}")
