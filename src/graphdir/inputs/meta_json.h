// Records of metas as the processes send them to each other: RECORD of docs/protocol.md.
#pragma once

#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "graphdir/inputs/meta.h"

namespace passnet::graphdir {

/// A list of RECORD.
Json to_json(const std::vector<TensorMeta>& records);
/// Errors: BadInput naming the field. What parse_meta checks is not checked again.
Result<std::vector<TensorMeta>> records_from_json(const Json& json);

}  // namespace passnet::graphdir
