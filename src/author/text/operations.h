// Numbers and operations as C++, one text from others: what knows nothing of the kernel that it stands in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "author/loops/expression.h"

namespace passnet::author {

/// "float", "int64_t"
const char* type_name(Compute compute);
/// "1.5f", "(-2.0)"; of infinity and NaN a division that gives them.
std::string real_text(double value, Compute compute);
/// REQUIRES: a Number.
std::string number_text(const Expr& number);

/// The text of an Apply with its parts in place of $0, $1 …
std::string with_parts(std::string_view text, const std::vector<std::string>& parts);
/// ?(c, a, b) as numbers have it, or as vectors have it.
std::string choices(std::string_view text, bool vectors);
/// #name(…) as "PREFIXnamef(…)"
std::string with_functions(const std::string& text, std::string_view prefix);
/// Tells whether it has what takes a processor many cycles.
bool divides_or_calls(std::string_view text);

/// Returns the value that a fold begins with.
std::string neutral(Fold fold, Compute compute);
/// One step of it. Sums of whole numbers wrap.
std::string combined(Fold fold, Compute compute, const std::string& a, const std::string& b, bool vectors);

}  // namespace passnet::author
