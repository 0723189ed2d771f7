// Fields of JSON that is read from outside.
#pragma once

#include <optional>

#include "base/json/json.h"

namespace passnet {

/// The number itself; nan and infinities, which JSON has no numbers for, as "nan", "inf", "-inf".
Json number_json(double value);
/// What number_json wrote, or any number; nullopt for anything else.
std::optional<double> read_number(const Json& json);

}  // namespace passnet
