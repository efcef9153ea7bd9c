cmake_policy(VERSION 3.25)
# Runs in cpack when all components are staged and nothing is packed yet. Adds what
# Debian asks of every package (copyright, changelog), compresses what it wants
# compressed, without a time stamp, and takes away what its packages do not have.

# The first word of the changelog's date is a day of the week, in English.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH's
# What lintian says and we mean. Debian's own archive would close a bug with the first
# upload; CPack calls ldconfig beside the trigger; libMLIR lies in a folder of LLVM's,
# where the loader does not look. Which packages the last two are for, their files say.
set(overrides_all "initial-upload-closes-no-bugs *")
if(CPACK_PACKAGE_CONTACT MATCHES "localdomain") # nobody said who packs
  list(APPEND overrides_all "bogus-mail-host *" "bogus-mail-host-in-debian-changelog *")
endif()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${component}" upper)
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr")
  set(doc "${root}/share/doc/${package}")
  file(COPY "${CMAKE_CURRENT_LIST_DIR}/copyright" DESTINATION "${doc}"
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(WRITE "${doc}/changelog.Debian" "facet (${CPACK_PACKAGE_VERSION}-1) unstable; urgency=medium

  * Packed from the build of this version.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB pages "${root}/share/man/man1/*.1")
  execute_process(COMMAND gzip -9nf ${pages} "${doc}/changelog.Debian" COMMAND_ERROR_IS_FATAL ANY)
  set(overrides ${overrides_all})
  file(GLOB libraries "${root}/lib/*.so.*" "${root}/lib/*/*.so.*")
  if(libraries)
    list(APPEND overrides "maintscript-calls-ldconfig *")
  endif()
  file(GLOB programs "${root}/bin/*")
  foreach(binary IN LISTS libraries programs)
    execute_process(COMMAND readelf -d "${binary}" OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
    if(dynamic MATCHES "\\(R(UN)?PATH\\)")
      list(APPEND overrides "custom-library-search-path *")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES overrides)
  list(TRANSFORM overrides PREPEND "${package}: ")
  list(JOIN overrides "\n" overrides)
  file(WRITE "${root}/share/lintian/overrides/${package}" "${overrides}\n")
  # Modes are not the business of who builds.
  file(GLOB_RECURSE written "${root}/share/doc/*" "${root}/share/man/*" "${root}/share/lintian/*")
  foreach(file IN LISTS written)
    if(NOT IS_SYMLINK "${file}")
      file(CHMOD "${file}" FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    endif()
  endforeach()
  file(GLOB_RECURSE folders LIST_DIRECTORIES ON "${root}/*")
  foreach(folder IN LISTS folders ITEMS "${root}")
    if(IS_DIRECTORY "${folder}" AND NOT IS_SYMLINK "${folder}")
      file(CHMOD "${folder}" DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
        GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    endif()
  endforeach()
endforeach()
