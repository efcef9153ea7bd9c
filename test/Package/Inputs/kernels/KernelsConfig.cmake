include(CMakeFindDependencyMacro)
find_dependency(Facet CONFIG)
include("${CMAKE_CURRENT_LIST_DIR}/KernelsTargets.cmake")
