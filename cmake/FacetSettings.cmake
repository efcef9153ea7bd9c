# Language level, warnings, hidden symbols, ccache, where tools land and are installed.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
# -fPIC for everything alike: with CMake's property, executables would get -fPIE
# and could not share the libraries' precompiled header.
add_compile_options(-fPIC)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

set(CMAKE_INSTALL_DOCDIR "share/doc/facet" CACHE PATH "Documentation")
include(GNUInstallDirs)
set(FACET_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Facet") # of find_package(Facet)
# The way from the folder of the .pc files back to the prefix, so that an
# installation may be moved.
file(RELATIVE_PATH FACET_PC_TO_PREFIX
  "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" FACET_PC_TO_PREFIX "${FACET_PC_TO_PREFIX}")
# Debian keeps libMLIR outside the folders that the loader knows.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(FACET_CCACHE ccache)
if(FACET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The precompiled header makes ccache look away unless it is told what may differ.
  set(FACET_CCACHE_LAUNCHER "${CMAKE_COMMAND}" -E env
      "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" "CCACHE_NOHASHDIR=1" "${FACET_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FACET_CCACHE_LAUNCHER})
  set(CMAKE_C_COMPILER_LAUNCHER ${FACET_CCACHE_LAUNCHER})
endif()

# Sanitizers, as -fsanitize= takes them; presets asan and fuzz set them.
set(FACET_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined")
if(FACET_SANITIZE)
  # LLVM has no RTTI, which the vptr check needs. Optimised a little: the suite runs in it.
  add_compile_options(-fsanitize=${FACET_SANITIZE} -fno-sanitize=vptr
                      -fno-sanitize-recover=all -fno-omit-frame-pointer -O1)
  add_link_options(-fsanitize=${FACET_SANITIZE} -fno-sanitize=vptr)
endif()

# lld links in a fraction of the time of GNU ld. gcc keeps its own.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  find_program(FACET_LLD NAMES ld.lld-22 ld.lld)
  if(FACET_LLD)
    add_link_options(--ld-path=${FACET_LLD})
  endif()
endif()

# Programs and libraries read files of strangers: what the loader fills in is closed before
# they run, no memory can be both written and executed, and a write past the end of an
# object on the stack or of a standard container ends the program. (Executables are
# position independent by the compilers' default.) Sanitizers look closer, and
# _FORTIFY_SOURCE wants an optimised build.
option(FACET_HARDEN "Full RELRO, no executable stack, checked stacks and containers" ON)
if(FACET_HARDEN)
  add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
  if(NOT FACET_SANITIZE)
    add_compile_options(-fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE
                        $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>
                        $<$<COMPILE_LANGUAGE:CXX>:-D_GLIBCXX_ASSERTIONS>)
  endif()
endif()

# Code that TableGen writes does not use all its parameters.
add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The LLVM headers set these off under gcc 12; our own code is checked by clang.
  # gcc's -Wpedantic refuses __int128, which both compilers have.
  add_compile_options(-Wno-comment -Wno-maybe-uninitialized
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-class-memaccess>)
else()
  add_compile_options(-Wpedantic)
endif()
if(FACET_WERROR)
  add_compile_options(-Werror)
endif()
