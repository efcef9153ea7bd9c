# add_facet_library(Name [MLIR] SOURCES ... [DEPENDS tablegen-targets ...] [LINK ...])
#
# A static, internal library. MLIR says that its sources include MLIR headers:
# it then shares the precompiled header and links libMLIR; without it a library
# may still use LLVM Support and links libLLVM only.
function(add_facet_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  _facet_link(${name} "${ARG_MLIR}" "${ARG_DEPENDS}" "${ARG_LINK}")
endfunction()

# add_facet_tool(name [MLIR] SOURCES ... [LINK ...]): an executable in build/bin.
function(add_facet_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _facet_link(${name} "${ARG_MLIR}" "${ARG_DEPENDS}" "${ARG_LINK}")
  set_property(GLOBAL APPEND PROPERTY FACET_TEST_DEPENDS ${name})
endfunction()

# add_facet_unittest(Name [MLIR] SOURCES ... [LINK ...]): a GoogleTest binary. The
# name ends in Tests; lit finds it by that.
function(add_facet_unittest name)
  if(NOT name MATCHES "Tests$")
    message(FATAL_ERROR "add_facet_unittest: '${name}' must end in Tests, or lit does not find it")
  endif()
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _facet_link(${name} "${ARG_MLIR}" "${ARG_DEPENDS}" "${ARG_LINK};GTest::gtest_main;GTest::gmock")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/test/Unit")
  set_property(GLOBAL APPEND PROPERTY FACET_TEST_DEPENDS ${name})
endfunction()

# add_facet_fuzzer(name-fuzzer [MLIR] SEEDS pattern [DICTIONARY file] SOURCES ... [LINK ...]):
# a libFuzzer binary, in the preset `fuzz` only. SEEDS is the pattern of the
# repository's files that it starts from, "*.facet" say; `./dev fuzz name` runs it.
function(add_facet_fuzzer name)
  if(NOT FACET_BUILD_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "MLIR" "SEEDS;DICTIONARY" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _facet_link(${name} "${ARG_MLIR}" "${ARG_DEPENDS}" "${ARG_LINK}")
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${name}.seeds" "${ARG_SEEDS}")
  if(ARG_DICTIONARY)
    configure_file("${ARG_DICTIONARY}" "${CMAKE_CURRENT_BINARY_DIR}/${name}.dict" COPYONLY)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  add_dependencies(facet-fuzzers ${name})
endfunction()
add_custom_target(facet-fuzzers)

function(_facet_link name mlir depends link)
  target_link_libraries(${name} PUBLIC ${link})
  if(mlir)
    target_link_libraries(${name} PUBLIC MLIR)
    if(FACET_PCH AND TARGET facet-pch)
      target_precompile_headers(${name} REUSE_FROM facet-pch)
    endif()
  endif()
  target_link_libraries(${name} PUBLIC LLVM)
  get_target_property(type ${name} TYPE)
  if(FACET_SANITIZE MATCHES "address" AND type STREQUAL "EXECUTABLE")
    target_link_libraries(${name} PRIVATE facet-sanitizer-options)
  endif()
  if(depends)
    add_dependencies(${name} ${depends})
  endif()
endfunction()

if(FACET_SANITIZE MATCHES "address")
  add_library(facet-sanitizer-options OBJECT "${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.c")
endif()

# One object library owns the precompiled MLIR headers; every MLIR library reuses it.
if(FACET_PCH)
  file(WRITE "${PROJECT_BINARY_DIR}/facet-pch.cpp" "// Owner of the precompiled MLIR headers.\n")
  add_library(facet-pch OBJECT "${PROJECT_BINARY_DIR}/facet-pch.cpp")
  target_precompile_headers(facet-pch PRIVATE
    <mlir/IR/Builders.h> <mlir/IR/BuiltinAttributes.h> <mlir/IR/BuiltinOps.h>
    <mlir/IR/BuiltinTypes.h> <mlir/IR/Dialect.h> <mlir/IR/DialectImplementation.h>
    <mlir/IR/OpDefinition.h> <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h>
    <mlir/Pass/Pass.h> <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Math/IR/Math.h>
    <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Tensor/IR/Tensor.h> <mlir/Dialect/LLVMIR/LLVMDialect.h>)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(facet-pch PUBLIC "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()
