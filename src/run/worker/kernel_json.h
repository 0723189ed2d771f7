// A compiled kernel as requests to a worker have it (docs/protocol.md).
#pragma once

#include "base/json/json.h"
#include "pass/kernel/build.h"

namespace passnet::run {

Json to_json(const pass::BuiltKernel& kernel);

}  // namespace passnet::run
