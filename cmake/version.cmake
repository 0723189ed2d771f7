# passnet_version_source(VARIABLE): a source file with version, commit and PyTorch's version (src/base/version.h).
# It is written again when git's log of HEAD has changed (commit, checkout, rebase), not in every build.
function(passnet_version_source variable)
  set(torch none)
  if(PASSNET_WITH_TORCH)
    file(STRINGS ${PASSNET_TORCH_DIR}/version.py line REGEX "^__version__ = ")
    string(REGEX REPLACE "^[^'\"]*['\"]([0-9.a-z]+).*$" "\\1" torch "${line}")
  endif()
  set(head "")
  find_program(PASSNET_GIT git)
  if(PASSNET_GIT)
    execute_process(COMMAND ${PASSNET_GIT} -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
      OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT EXISTS "${head}")
      set(head "")
    endif()
  endif()
  set(source ${PROJECT_BINARY_DIR}/version/version.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/write_version.cmake)
  add_custom_command(OUTPUT ${source} DEPENDS ${head} ${script} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION} -DTORCH=${torch} -DOUT=${source} -P ${script})
  set(${variable} ${source} PARENT_SCOPE)
endfunction()
