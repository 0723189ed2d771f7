// The fields of a compiled kernel in JSON. Heavy: include it in .cpp files only.
#pragma once

#include "base/json/json_object.h"
#include "pass/plan/kernel_file.h"

namespace passnet {

PASSNET_JSON_FIELDS(pass::KernelFile, "kernel",
                    PASSNET_FIELDS(object, entry) PASSNET_FIELDS_MAY_LACK(parameters, sha256)
                        PASSNET_FIELDS_IF_SET(shared_bytes, cluster))

}  // namespace passnet
