// A graph as a drawing: operators as boxes from top to bottom.
#pragma once

#include <string>

namespace passnet::site {

/// Nodes of the largest graph that is drawn.
inline constexpr size_t kMostNodes = 160;

/// model: the text of a model.py. Weights are left out, as `passnet graph dot` does.
/// Returns: an <svg>; "" where the text is no graph, or has too many nodes.
std::string render_drawing(const std::string& model);

}  // namespace passnet::site
