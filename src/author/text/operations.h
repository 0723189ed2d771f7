// Numbers and operations as C++, one text from others: what knows nothing of the kernel that it stands in.
#pragma once

#include <string>
#include <vector>

#include "author/loops/expression.h"

namespace passnet::author {

/// CUDA: threads of a warp; threads that share a row, at most.
inline constexpr int64_t kWarp = 32, kMostThreads = 512;

/// Tells whether the text names it.
bool has_word(const std::string& text, const std::string& word);
/// "a + b - c" of "a", "b" and "-c".
std::string sum_text(const std::vector<std::string>& parts);
/// Returns the text without brackets around all of it, for an argument of a call.
std::string bare(const std::string& text);
/// "float", "int64_t"
const char* type_name(Compute compute);
/// "1.5f", "(-2.0)"; of infinity and NaN a division that gives them.
std::string real_text(double value, Compute compute);
/// REQUIRES: a Number.
std::string number_text(const Expr& number);

/// Returns the value that a fold begins with.
std::string neutral(Fold fold, Compute compute);
/// One step of it. Sums of whole numbers wrap.
std::string combined(Fold fold, Compute compute, const std::string& a, const std::string& b, bool vectors);

}  // namespace passnet::author
