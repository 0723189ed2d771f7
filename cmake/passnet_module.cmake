# passnet_library(NAME [FAST_TO_COMPILE] [DEPS module…] SOURCES file… [LINK_PUBLIC target…] [LINK_PRIVATE target…])
#   one module = one static library `passnet_NAME`; DEPS names modules of ours (checked by check_layers.cmake).
#   FAST_TO_COMPILE: it is on no measured path, so it is compiled with PASSNET_FAST_TO_COMPILE.
# passnet_test(NAME LABEL unit|worker|golden|slow [DEPS module…] SOURCES file… [LINK target…])
#   one GoogleTest executable per module and label, its cases registered one by one.
# passnet_python_test(NAME SCRIPT [ARGS…])
#   runs SCRIPT (relative to the calling CMakeLists.txt) with PASSNET_PYTHON; label `python`; exit code 77 means skipped.
#   The script sees PASSNET_SOURCE_DIR and PASSNET_BINARY_DIR in its environment; the binaries lie in the latter's bin/.
include(GoogleTest)

# Parsing these is most of the time that a file takes to compile, so they are precompiled, for tests and programs with
# further ones. Files include what they use all the same: a build with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows those
# that do not.
set(PASSNET_HEAVY_HEADERS <algorithm> <array> <chrono> <filesystem> <functional> <map> <memory> <optional> <set> <string>
  <string_view> <unordered_map> <utility> <vector> <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp> <tl/expected.hpp>)
# Files compiled as one where CMAKE_UNITY_BUILD is on (scripts/build): the fewer units, the less is instantiated and
# generated twice; the larger they are, the longer a change of one file takes to build.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 10)
# For code that puts words together and is on no measured path: two thirds of the time to compile.
set(PASSNET_FAST_TO_COMPILE $<$<CONFIG:Release>:-Og>)

function(passnet_library name)
  cmake_parse_arguments(arg "FAST_TO_COMPILE" "" "DEPS;SOURCES;LINK_PUBLIC;LINK_PRIVATE" ${ARGN})
  add_library(passnet_${name} STATIC ${arg_SOURCES})
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

function(passnet_test name)
  cmake_parse_arguments(arg "" "LABEL" "DEPS;SOURCES;LINK" ${ARGN})
  if(NOT PASSNET_TESTS)
    return()
  endif()
  set(target ${name}_${arg_LABEL}_test)
  add_executable(${target} ${arg_SOURCES})
  list(TRANSFORM arg_DEPS PREPEND passnet_)
  target_link_libraries(${target} PRIVATE passnet_warnings ${arg_DEPS} ${arg_LINK} GTest::gmock GTest::gtest_main)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE PASSNET_SOURCE_DIR="${PROJECT_SOURCE_DIR}" PASSNET_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_precompile_headers(${target} REUSE_FROM passnet_tests_precompiled)
  gtest_discover_tests(${target} PROPERTIES LABELS ${arg_LABEL} DISCOVERY_TIMEOUT 60)
endfunction()

function(passnet_python_test name script)
  if(NOT PASSNET_TESTS)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${PASSNET_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS python SKIP_RETURN_CODE 77 TIMEOUT 900
    ENVIRONMENT "PASSNET_SOURCE_DIR=${PROJECT_SOURCE_DIR};PASSNET_BINARY_DIR=${PROJECT_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endfunction()
