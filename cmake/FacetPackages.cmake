# `cpack -G DEB` in the build folder: one Debian package per component. Configure with
# -DCMAKE_INSTALL_PREFIX=/usr for Debian's folder of libraries.

set(FACET_MAINTAINER "Facet maintainers <facet@localhost.localdomain>" CACHE STRING
    "Maintainer of the Debian packages")
execute_process(COMMAND git -C "${PROJECT_SOURCE_DIR}" log -1 --format=%ct
  OUTPUT_VARIABLE FACET_SOURCE_DATE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT FACET_SOURCE_DATE)
  set(FACET_SOURCE_DATE 1704067200) # no history here: some day
endif()
configure_file(cmake/Debian/Environment.cmake.in "${PROJECT_BINARY_DIR}/DebianEnvironment.cmake" @ONLY)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_BINARY_DIR}/DebianEnvironment.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/Debian/Finish.cmake")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME facet)
set(CPACK_PACKAGE_CONTACT "${FACET_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own, below
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tool library runtime simulator blas development docs)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(version "${PROJECT_VERSION}-1")
set(about "Facet compiles a matmul and what surrounds it, written in index notation, to
an object file with a C header.")
# facet_debian(component package synopsis what-it-holds)
macro(facet_debian component package synopsis text)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${synopsis}\n${about}\n.\n${text}")
endmacro()
facet_debian(tool facet "compiler for matmul kernels"
  "This package has the compiler, the simulator and the machine files.")
facet_debian(library libfacet${PROJECT_VERSION_MAJOR} "compiler for matmul kernels - library"
  "This package has the compiler as a library with a C interface.")
facet_debian(runtime libfacet-runtime${PROJECT_VERSION_MAJOR} "threads and scratch memory for compiled matmul kernels"
  "This package has the library that gives threads and memory to compiled kernels.")
facet_debian(simulator libfacet-sim${PROJECT_VERSION_MAJOR} "simulator behind matmul kernels of a matrix engine"
  "This package has the library that runs programs for a matrix engine when their\nC functions are called.")
facet_debian(blas libfacet-blas${PROJECT_VERSION_MAJOR} "sgemm and dgemm of BLAS on kernels of the matmul compiler"
  "This package has the library that replaces sgemm and dgemm in programs that\nare there already, by LD_PRELOAD.")
facet_debian(development libfacet-dev "compiler for matmul kernels - headers and build files"
  "This package has what programs need to use kernels: headers, the CMake package,\nthe static runtime.")
facet_debian(docs facet-doc "compiler for matmul kernels - documentation"
  "This package has the documentation and the examples.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_SIMULATOR_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_BLAS_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DOCS_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOCS_PACKAGE_ARCHITECTURE all)
# By hand: dpkg-shlibdeps reads libMLIR for seconds, and differently from run to run. A
# test compares them with what the binaries need.
set(base "libc6 (>= 2.36), libgcc-s1 (>= 3.0), libstdc++6 (>= 12)")
set(llvm "libllvm22 (>= 1:${LLVM_PACKAGE_VERSION}), libmlir-22 (>= 1:${LLVM_PACKAGE_VERSION})")
set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "${base}, ${llvm}, libprotobuf-lite32 (>= 3.21.12)")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS # and the machine files
    "facet (= ${version}), ${base}, ${llvm}, libprotobuf-lite32 (>= 3.21.12)")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "${base}, libtbb12 (>= 2021.8)")
set(CPACK_DEBIAN_SIMULATOR_PACKAGE_DEPENDS "${base}, libllvm22 (>= 1:${LLVM_PACKAGE_VERSION})")
set(CPACK_DEBIAN_BLAS_PACKAGE_DEPENDS "${base}, libtbb12 (>= 2021.8)")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "facet (= ${version}), libfacet${PROJECT_VERSION_MAJOR} (= ${version}), libfacet-runtime${PROJECT_VERSION_MAJOR} (= ${version}), libfacet-sim${PROJECT_VERSION_MAJOR} (= ${version}), libfacet-blas${PROJECT_VERSION_MAJOR} (= ${version}), libtbb-dev")
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "facet-doc, libfacet-dev, lld-22")
foreach(component LIBRARY RUNTIME SIMULATOR BLAS)
  set(CPACK_DEBIAN_${component}_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/Debian/triggers")
endforeach()
include(CPack)
