# passnet_library(NAME [FAST_TO_COMPILE] [UNITY_SIZE files] [DEPS module…] SOURCES file… [LINK_PUBLIC target…] [LINK_PRIVATE target…])
#   one module = one static library `passnet_NAME`; DEPS names modules of ours (checked by check_layers.cmake).
#   FAST_TO_COMPILE: it is on no measured path, so it is compiled with PASSNET_FAST_TO_COMPILE.
# passnet_program(NAME DEPS module… SOURCES file…)
#   one program that takes the command line of `passnet`, or some of its commands (apps/command_line/external_commands.h).
# passnet_test(NAME LABEL unit|worker|golden|slow [DEPS module…] SOURCES file… [LINK target…])
#   one GoogleTest executable per module and label, its suites registered one by one; a suite is one process.
# passnet_test_tool(NAME [DEPS module…] SOURCES file… [LINK target…])
#   a program that tests start.
# passnet_python_test(NAME SCRIPT… [ARGS…])
#   runs SCRIPT (relative to the calling CMakeLists.txt) with PASSNET_PYTHON; label `python`; exit code 77 means skipped.
#   The script sees PASSNET_SOURCE_DIR and PASSNET_BINARY_DIR in its environment; the binaries lie in the latter's bin/.
#   It has a directory of locks of its own: evaluations of other tests, builds and users are not waited for.
include(${CMAKE_CURRENT_LIST_DIR}/unity.cmake)

# Parsing these is most of the time that a file takes to compile, so they are precompiled, for tests and programs with
# further ones. Files include what they use all the same: a build with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows those
# that do not.
set(PASSNET_HEAVY_HEADERS <algorithm> <array> <chrono> <filesystem> <functional> <map> <memory> <optional> <set> <string>
  <string_view> <unordered_map> <utility> <vector> <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp> <tl/expected.hpp>)
# For code that puts words together and is on no measured path: two thirds of the time to compile.
set(PASSNET_FAST_TO_COMPILE $<$<CONFIG:Release>:-Og>)
# For code that runs once and calls what is optimized, as a command does, and for tests: half of the time to compile.
set(PASSNET_UNOPTIMIZED $<$<CONFIG:Release>:-O0>)

if(PASSNET_TESTS)
  set(PASSNET_TEST_LOCKS ${PROJECT_BINARY_DIR}/tests/locks)
  file(MAKE_DIRECTORY ${PASSNET_TEST_LOCKS})
endif()

function(passnet_library name)
  cmake_parse_arguments(arg "FAST_TO_COMPILE" "UNITY_SIZE" "DEPS;SOURCES;LINK_PUBLIC;LINK_PRIVATE" ${ARGN})
  add_library(passnet_${name} STATIC ${arg_SOURCES})
  passnet_unite_later(passnet_${name} SIZE ${arg_UNITY_SIZE})
  target_include_directories(passnet_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM arg_DEPS PREPEND passnet_)
  target_link_libraries(passnet_${name} PUBLIC ${arg_DEPS} ${arg_LINK_PUBLIC} PRIVATE passnet_warnings ${arg_LINK_PRIVATE})
  if(arg_FAST_TO_COMPILE)
    target_compile_options(passnet_${name} PRIVATE ${PASSNET_FAST_TO_COMPILE})
  endif()
  if(NOT name STREQUAL "runtime")
    target_precompile_headers(passnet_${name} REUSE_FROM passnet_precompiled)
  endif()
endfunction()

function(passnet_program name)
  cmake_parse_arguments(arg "" "" "DEPS;SOURCES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  passnet_unite_later(${name})
  list(TRANSFORM arg_DEPS PREPEND passnet_)
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE passnet_warnings passnet_command_line ${arg_DEPS})
  target_compile_options(${name} PRIVATE ${PASSNET_UNOPTIMIZED})
  target_precompile_headers(${name} REUSE_FROM passnet_command_line)
endfunction()

function(passnet_test name)
  cmake_parse_arguments(arg "" "LABEL" "DEPS;SOURCES;LINK" ${ARGN})
  if(NOT PASSNET_TESTS)
    return()
  endif()
  set(target ${name}_${arg_LABEL}_test)
  add_executable(${target} ${arg_SOURCES})
  passnet_unite_later(${target})
  list(TRANSFORM arg_DEPS PREPEND passnet_)
  target_link_libraries(${target} PRIVATE passnet_warnings passnet_test_paths ${arg_DEPS} ${arg_LINK} GTest::gmock GTest::gtest_main)
  target_compile_options(${target} PRIVATE ${PASSNET_UNOPTIMIZED})
  target_precompile_headers(${target} REUSE_FROM passnet_tests_precompiled)
  set(suites ${CMAKE_CURRENT_BINARY_DIR}/${target}.cmake)
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${suites}
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DMODULE=${name} -DLABEL=${arg_LABEL} -DSUITES=${suites} -DLOCKS=${PASSNET_TEST_LOCKS} -P ${PROJECT_SOURCE_DIR}/cmake/list_suites.cmake)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${suites})
endfunction()

function(passnet_test_tool name)
  cmake_parse_arguments(arg "" "" "DEPS;SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  list(TRANSFORM arg_DEPS PREPEND passnet_)
  target_link_libraries(${name} PRIVATE passnet_warnings ${arg_DEPS} ${arg_LINK})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_options(${name} PRIVATE ${PASSNET_UNOPTIMIZED})
  if(arg_DEPS)
    # For the definitions that the precompiled header was made with.
    target_link_libraries(${name} PRIVATE GTest::gtest)
    target_precompile_headers(${name} REUSE_FROM passnet_tests_precompiled)
  endif()
endfunction()

function(passnet_python_test name)
  if(NOT PASSNET_TESTS)
    return()
  endif()
  set(locks ${PASSNET_TEST_LOCKS}/${name})
  file(MAKE_DIRECTORY ${locks})
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[a-z_][a-z_/]*[.]py$")
  add_test(NAME ${name} COMMAND ${PASSNET_PYTHON} ${PROJECT_SOURCE_DIR}/tests/run_suite.py ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS python SKIP_RETURN_CODE 77 TIMEOUT 900 COST 100
    ENVIRONMENT "PASSNET_SOURCE_DIR=${PROJECT_SOURCE_DIR};PASSNET_BINARY_DIR=${PROJECT_BINARY_DIR};PASSNET_LOCK_DIR=${locks};PYTHONDONTWRITEBYTECODE=1")
endfunction()
