// Text made fit for an HTML page.
#pragma once

#include <string>
#include <string_view>

#include "base/visible.h"

namespace passnet::report {

/// For element content and quoted attributes: visible(), then & < > " ' as entities.
std::string escape_html(std::string_view text);

}  // namespace passnet::report
