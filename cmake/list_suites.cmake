# Writes a CTest file that registers each suite of a GoogleTest program as one test, MODULE.SUITE.
# Usage: cmake -DPROGRAM=FILE -DMODULE=NAME -DLABEL=LABEL -DSUITES=FILE -DLOCKS=DIR -P list_suites.cmake
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests: ${status}")
endif()
# A suite stands at the beginning of a line and ends with a dot; comments of parametrized suites follow.
string(REGEX MATCHALL "\n[A-Za-z0-9_/]+\\." suites "\n${listed}")
set(text "")
# Slow suites begin first, beside the Python suites (passnet_module.cmake).
set(cost 0)
if(LABEL STREQUAL slow)
  set(cost 100)
endif()
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "^\n(.*)\\.$" "\\1" suite "${suite}")
  string(APPEND text "add_test([=[${MODULE}.${suite}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${suite}.*]=])\n"
    "set_tests_properties([=[${MODULE}.${suite}]=] PROPERTIES LABELS ${LABEL} COST ${cost} ENVIRONMENT [=[PASSNET_LOCK_DIR=${LOCKS}]=])\n")
endforeach()
file(WRITE ${SUITES} "${text}")
