# cmake -DSOURCE=DIR -DVERSION=0.1.0 -DTORCH=2.11.0 -DOUT=version.cpp -P write_version.cmake
#   writes the values of src/base/version.h; a file that says the same already is left as it is, so that nothing is compiled.
set(commit unknown)
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(commit ${found})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [=[
#include "base/version.h"

namespace passnet {

const char* const kVersion = "@VERSION@";
const char* const kCommit = "@commit@";
const char* const kTorchVersion = "@TORCH@";

std::string version_text() {
  return std::string("passnet ") + kVersion + " (commit " + kCommit + ", PyTorch " + kTorchVersion + ")";
}

}  // namespace passnet
]=])
