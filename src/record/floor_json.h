// The fields in JSON of what a machine was measured to do (docs/protocol.md). Heavy: include it in .cpp files only.
#pragma once

#include "base/json/json_object.h"
#include "record/floor.h"

namespace passnet {

PASSNET_JSON_FIELDS(record::CopySpeed, "copy", PASSNET_FIELDS(bytes, gb_per_s))

PASSNET_JSON_FIELDS(record::ProductSpeed, "product", PASSNET_FIELDS(dtype, gflop_per_s))

}  // namespace passnet
