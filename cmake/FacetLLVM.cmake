# Finds MLIR and LLVM 22 (Debian keeps them under /usr/lib/llvm-22) and makes
# them available as the two shared libraries `MLIR` and `LLVM`.

list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(MLIR REQUIRED CONFIG) # its version file knows no ranges; checked below
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Facet needs LLVM 22, found ${LLVM_VERSION} in ${LLVM_DIR}")
endif()
message(STATUS "LLVM ${LLVM_VERSION} in ${LLVM_DIR}")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories("${PROJECT_SOURCE_DIR}/include")
include_directories(SYSTEM "${PROJECT_BINARY_DIR}/include") # generated: warnings are not ours
add_definitions(${LLVM_DEFINITIONS})
if(NOT LLVM_ENABLE_RTTI)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()
set(FACET_LIT "${LLVM_TOOLS_BINARY_DIR}/lit")
