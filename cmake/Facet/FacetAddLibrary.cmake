# facet_add_library(TARGET SOURCES a.facet [b.facet ...]
#                   [TARGETS x86-64-v3 ...] [MACHINE my-cpu.yaml ...] [DEFINE M=4096 ...] [SCHEDULES s.facet ...]
#                   [NAMESPACE name] [HEADER_DIR folder] [INCLUDE_DIRS folder ...]
#                   [RUNTIME shared|static|none] [TRIPLE triple] [EMIT asm llvm ...]
#                   [OPTIONS option ...] [DEPENDS file-or-target ...])
#
# A static library TARGET of position independent code. Who links it finds the
# headers `a.h`, `b.h` and facet/abi.h, and gets Facet::runtime.
#
#   SOURCES      kernels; one object and one header each, so that a change of one
#                compiles one. Imports are followed, by a depfile.
#   TARGETS      what to compile for, as --target= takes it; several CPUs: one object
#                that chooses when it runs. A matrix engine, trn2 say, adds `a_trn2.h` and
#                functions like linear_trn2 that run on the simulator, Facet::sim; DEFINE
#                must fix all sizes then
#   MACHINE      machine files, beside TARGETS; all is built again when one changes
#   DEFINE       sizes to fix, as -D takes them, for every source
#   SCHEDULES    files with schedule blocks
#   NAMESPACE    put `name_` before every C name
#   HEADER_DIR   where the headers go (TARGET.facet/include in the build folder)
#   INCLUDE_DIRS where to look for imports too
#   RUNTIME      which runtime comes with it; kernels called with a facet_exec of
#                the caller's, or NULL, need none
#   TRIPLE       where the code runs; otherwise CMAKE_C_COMPILER_TARGET, or
#                CMAKE_CXX_COMPILER_TARGET, or the system and processor
#   EMIT         also write asm, llvm, mlir, kernel, or programs as engine, to TARGET.facet
#                in the build folder
#   OPTIONS      options of `facet compile` as they are, -Werror say
#
# install(TARGETS TARGET EXPORT ...) installs archive and headers (PUBLIC_HEADER).

# For the functions below, whatever the project that calls them has set.
cmake_policy(PUSH)
cmake_policy(VERSION 3.20...3.25)

# Ends with a message that names the call.
function(_facet_refuse target text)
  message(FATAL_ERROR "facet_add_library(${target}): ${text}")
endfunction()

# The triple of the code that this project builds.
function(_facet_triple target result)
  foreach(language C CXX)
    if(CMAKE_${language}_COMPILER_TARGET)
      set(${result} "${CMAKE_${language}_COMPILER_TARGET}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
  if(processor STREQUAL "amd64")
    set(processor x86_64)
  elseif(processor STREQUAL "arm64")
    set(processor aarch64)
  endif()
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT processor)
    _facet_refuse(${target} "no triple is known for system '${CMAKE_SYSTEM_NAME}', processor '${CMAKE_SYSTEM_PROCESSOR}'; give TRIPLE")
  endif()
  set(${result} "${processor}-unknown-linux-gnu" PARENT_SCOPE)
endfunction()

# The full name of a file given in a CMakeLists.txt; it exists or will be made.
function(_facet_file target what file result)
  if(file MATCHES "\\$<")
    _facet_refuse(${target} "${what} takes file names, not the generator expression '${file}'")
  endif()
  set(path "${file}")
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  if(NOT EXISTS "${path}")
    set(built "${file}")
    cmake_path(ABSOLUTE_PATH built BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
    get_source_file_property(isBuilt "${built}" GENERATED)
    if(NOT isBuilt AND NOT EXISTS "${built}")
      _facet_refuse(${target} "there is no file '${path}' (${what})")
    endif()
    set(path "${built}")
  endif()
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

# The options of `facet compile` that all sources share, in `common`; files that they
# name, in `files`; the option that chooses the CPUs, in `cpus`, where `forCpus` says that
# there are any; the matrix engines, in `engines`. Reads the ARG_ variables of its caller.
function(_facet_options target)
  set(common "")
  set(files "")
  set(cpus "")
  set(engines "")
  foreach(name IN LISTS ARG_TARGETS)
    if(name MATCHES "^trn[0-9]+$")
      list(APPEND engines "${name}")
    else()
      list(APPEND cpus "${name}")
    endif()
  endforeach()
  foreach(machine IN LISTS ARG_MACHINE)
    if(NOT machine MATCHES "\\.yaml$" OR machine MATCHES ",")
      _facet_refuse(${target} "MACHINE takes names of .yaml files without commas, not '${machine}'")
    endif()
    _facet_file(${target} MACHINE "${machine}" path)
    set(kind "")
    if(EXISTS "${path}")
      file(STRINGS "${path}" kind REGEX "^kind: *engine")
    endif()
    if(kind)
      list(APPEND engines "${path}")
    else()
      list(APPEND cpus "${path}")
    endif()
    list(APPEND ARG_DEPENDS "${path}")
  endforeach()
  set(ARG_DEPENDS "${ARG_DEPENDS}" PARENT_SCOPE)
  set(forCpus ON)
  if(cpus)
    list(JOIN cpus "," cpus)
    set(cpus "--target=${cpus}")
  elseif(engines)
    set(forCpus OFF)
  endif()
  set(cpus "${cpus}" PARENT_SCOPE)
  set(forCpus "${forCpus}" PARENT_SCOPE)
  set(engines "${engines}" PARENT_SCOPE)
  if(NOT ARG_TRIPLE)
    _facet_triple(${target} ARG_TRIPLE)
  endif()
  list(APPEND common "--triple=${ARG_TRIPLE}")
  foreach(define IN LISTS ARG_DEFINE)
    if(NOT define MATCHES "^[A-Za-z_][A-Za-z_0-9]*=.+$")
      _facet_refuse(${target} "DEFINE takes SIZE=VALUES, not '${define}'")
    endif()
    list(APPEND common -D "${define}")
  endforeach()
  if(ARG_NAMESPACE)
    list(APPEND common "--namespace=${ARG_NAMESPACE}")
  endif()
  foreach(folder IN LISTS ARG_INCLUDE_DIRS)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND common -I "${folder}")
  endforeach()
  foreach(schedule IN LISTS ARG_SCHEDULES)
    _facet_file(${target} SCHEDULES "${schedule}" path)
    list(APPEND files "${path}")
  endforeach()
  if(CMAKE_COLOR_DIAGNOSTICS)
    list(APPEND common "--color=always")
  endif()
  list(APPEND common ${ARG_OPTIONS})
  set(common "${common}" PARENT_SCOPE)
  set(files "${files}" PARENT_SCOPE)
endfunction()

# One run of the compiler: `output` (and `header`, or "") from `source`, with the options
# that follow.
function(_facet_compile source output header)
  # Ninja asks again whether an output changed, so nothing is built for the sake of
  # an output that stayed the same. make looks at times alone: there the object is
  # touched, and the header, which others include, is left alone.
  set(touch "")
  if(NOT CMAKE_GENERATOR MATCHES "Ninja")
    set(touch COMMAND "${CMAKE_COMMAND}" -E touch "${output}")
  endif()
  set(withHeader "")
  set(byproduct "")
  if(header)
    set(withHeader --header "${header}")
    set(byproduct BYPRODUCTS "${header}")
  endif()
  cmake_path(RELATIVE_PATH output BASE_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE shown)
  add_custom_command(OUTPUT "${output}" ${byproduct}
    COMMAND "${Facet_EXECUTABLE}" compile "${source}" ${files} -o "${output}" ${withHeader}
            --write-if-changed -MD -MF "${output}.d" ${common} ${ARGN}
    ${touch}
    DEPENDS "${source}" ${files} "${Facet_EXECUTABLE}" ${ARG_DEPENDS}
    DEPFILE "${output}.d"
    COMMENT "Building Facet output ${shown}"
    VERBATIM COMMAND_EXPAND_LISTS)
endfunction()

function(facet_add_library target)
  set(one NAMESPACE HEADER_DIR RUNTIME TRIPLE)
  set(many SOURCES TARGETS MACHINE DEFINE SCHEDULES INCLUDE_DIRS EMIT OPTIONS DEPENDS)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "${one}" "${many}")
  if(ARG_UNPARSED_ARGUMENTS)
    list(JOIN ARG_UNPARSED_ARGUMENTS "', '" unknown)
    list(JOIN one ", " known)
    list(JOIN many ", " knownLists)
    _facet_refuse(${target} "unknown argument '${unknown}'; there are ${knownLists}, ${known}")
  endif()
  foreach(keyword IN LISTS ARG_KEYWORDS_MISSING_VALUES)
    if(keyword IN_LIST one) # lists may be empty, as in DEFINE ${SIZES}
      _facet_refuse(${target} "no value after ${keyword}")
    endif()
  endforeach()
  if(NOT ARG_SOURCES)
    _facet_refuse(${target} "no SOURCES")
  endif()
  if(NOT ARG_RUNTIME)
    set(ARG_RUNTIME shared)
  elseif(NOT ARG_RUNTIME MATCHES "^(shared|static|none)$")
    _facet_refuse(${target} "RUNTIME is shared, static or none, not '${ARG_RUNTIME}'")
  elseif(ARG_RUNTIME STREQUAL "static" AND NOT TARGET Facet::runtime_static)
    _facet_refuse(${target} "RUNTIME static needs the CMake package of oneTBB, which is not found (Debian: libtbb-dev)")
  endif()
  set(suffix_asm s)
  set(suffix_llvm ll)
  set(suffix_mlir mlir)
  set(suffix_kernel kernel.mlir)
  set(suffix_engine engine)
  foreach(kind IN LISTS ARG_EMIT)
    if(NOT DEFINED suffix_${kind})
      _facet_refuse(${target} "EMIT takes asm, llvm, mlir, kernel and engine, not '${kind}'")
    endif()
  endforeach()
  _facet_options(${target})
  if("engine" IN_LIST ARG_EMIT AND NOT engines)
    _facet_refuse(${target} "EMIT engine needs a matrix engine in TARGETS or MACHINE")
  endif()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.facet")
  set(headerFolder "${folder}/include")
  if(ARG_HEADER_DIR)
    set(headerFolder "${ARG_HEADER_DIR}")
    cmake_path(ABSOLUTE_PATH headerFolder BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
  endif()
  file(MAKE_DIRECTORY "${folder}" "${headerFolder}")

  set(objects "")
  set(headers "")
  set(extras "")
  foreach(source IN LISTS ARG_SOURCES)
    if(NOT source MATCHES "\\.(facet|mlir)$" AND NOT source MATCHES "\\$<")
      _facet_refuse(${target} "'${source}' is no source; they end in .facet, or .mlir for the kernel dialect")
    endif()
    _facet_file(${target} SOURCES "${source}" path)
    cmake_path(GET path STEM LAST_ONLY stem)
    if(DEFINED "path_${stem}")
      _facet_refuse(${target} "'${path_${stem}}' and '${path}' would both make '${stem}.h'")
    endif()
    set("path_${stem}" "${path}")
    if(forCpus)
      _facet_compile("${path}" "${folder}/${stem}.o" "${headerFolder}/${stem}.h" ${cpus})
      list(APPEND objects "${folder}/${stem}.o")
      list(APPEND headers "${headerFolder}/${stem}.h")
    endif()
    foreach(engine IN LISTS engines)
      cmake_path(GET engine STEM LAST_ONLY name)
      set(name "${stem}_${name}")
      if(DEFINED "path_${name}")
        _facet_refuse(${target} "'${path_${name}}' and '${path}' would both make '${name}.h'")
      endif()
      set("path_${name}" "${path}")
      _facet_compile("${path}" "${folder}/${name}.o" "${headerFolder}/${name}.h" "--target=${engine}")
      list(APPEND objects "${folder}/${name}.o")
      list(APPEND headers "${headerFolder}/${name}.h")
      if("engine" IN_LIST ARG_EMIT)
        _facet_compile("${path}" "${folder}/${name}.engine" "" "--target=${engine}")
        list(APPEND extras "${folder}/${name}.engine")
      endif()
    endforeach()
    foreach(kind IN LISTS ARG_EMIT)
      if(forCpus AND NOT kind STREQUAL "engine")
        set(emitted "${folder}/${stem}.${suffix_${kind}}")
        _facet_compile("${path}" "${emitted}" "" ${cpus} "--emit=${kind}")
        list(APPEND extras "${emitted}")
      endif()
    endforeach()
  endforeach()

  add_library(${target} STATIC ${objects} ${headers} ${extras})
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_source_files_properties(${headers} ${extras} PROPERTIES HEADER_FILE_ONLY TRUE GENERATED TRUE)
  # The archiver is any language's that the project has.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  foreach(language C CXX Fortran)
    if(language IN_LIST languages)
      set_target_properties(${target} PROPERTIES LINKER_LANGUAGE ${language})
      break()
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON PUBLIC_HEADER "${headers}")
  target_include_directories(${target} INTERFACE "$<BUILD_INTERFACE:${headerFolder}>")
  target_link_libraries(${target} INTERFACE Facet::headers)
  if(engines)
    target_link_libraries(${target} INTERFACE Facet::sim)
  endif()
  if(ARG_RUNTIME STREQUAL "shared")
    target_link_libraries(${target} INTERFACE Facet::runtime)
  elseif(ARG_RUNTIME STREQUAL "static")
    target_link_libraries(${target} INTERFACE Facet::runtime_static)
  endif()
endfunction()

cmake_policy(POP)
