// Text made fit for an HTML page.
#pragma once

#include <string>
#include <string_view>

#include "base/text/visible.h"

namespace passnet::report {

/// For element content and quoted attributes: visible(), then & < > " ' as entities.
std::string escape_html(std::string_view text);
/// The same for a name that may be broken after its slashes and underscores.
std::string breakable(std::string_view name);

}  // namespace passnet::report
