# The CMake package that users find, and the documentation. What a folder builds, the
# folder itself installs.
#
# Components: tool (facet and what it reads), library (libfacet.so), runtime
# (libfacet-runtime.so), simulator (libfacet-sim.so), blas (libfacet-blas.so),
# development (headers, archive, CMake package, .pc), docs.

include(CMakePackageConfigHelpers)

# The build tree has the layout of an installation, so one file serves both and
# find_package(Facet) works before an installation too.
set(package "${PROJECT_BINARY_DIR}/${FACET_CMAKE_DIR}")
configure_package_config_file(cmake/Facet/FacetConfig.cmake.in "${package}/FacetConfig.cmake"
  INSTALL_DESTINATION "${FACET_CMAKE_DIR}" NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${package}/FacetConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
configure_file(cmake/Facet/FacetAddLibrary.cmake "${package}/FacetAddLibrary.cmake" COPYONLY)
install(FILES "${package}/FacetConfig.cmake" "${package}/FacetConfigVersion.cmake"
              "${package}/FacetAddLibrary.cmake"
  DESTINATION "${FACET_CMAKE_DIR}" COMPONENT development)
foreach(name FacetTargets FacetStaticTargets)
  install(EXPORT ${name} NAMESPACE Facet:: DESTINATION "${FACET_CMAKE_DIR}" COMPONENT development)
  export(EXPORT ${name} NAMESPACE Facet:: FILE "${package}/${name}.cmake")
endforeach()

install(FILES docs/man/facet-sim.1 docs/man/facet-lsp-server.1
  DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tool)
install(FILES README.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT docs)
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs" COMPONENT docs
  FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT docs)

# What an installation is made of: the tests install again when one of it changes.
set_property(GLOBAL APPEND PROPERTY FACET_INSTALLED
  facet facet-sim facet-lsp-server facet-runtime-shared facet-runtime-static facet-share
  "${package}/FacetConfig.cmake" "${package}/FacetAddLibrary.cmake"
  "${package}/FacetTargets.cmake" "${package}/FacetStaticTargets.cmake")
