// Places in messages.
#pragma once

#include <string>

#include "base/result.h"

namespace passnet {

/// "model.py:41:17"; "model.py" for the whole file.
std::string to_string(const SourceLoc& at);

}  // namespace passnet
