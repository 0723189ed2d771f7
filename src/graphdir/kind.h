// The kinds of subgraphs that a whole graph is cut into.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace passnet::graphdir {

enum class Kind : uint8_t {
  SoleOp,   // one operator
  Fusible,  // operators that a compiler launches as few kernels for as for the first of them
  Typical,  // operators that models repeat
};
inline constexpr std::array kKinds{Kind::SoleOp, Kind::Fusible, Kind::Typical};

/// "sole_op", "fusible", "typical": also the names of directories.
constexpr std::string_view name(Kind kind) {
  return kind == Kind::SoleOp ? "sole_op" : kind == Kind::Fusible ? "fusible" : "typical";
}
constexpr std::optional<Kind> parse_kind(std::string_view text) {
  for (const Kind kind : kKinds) {
    if (text == name(kind)) return kind;
  }
  return std::nullopt;
}

}  // namespace passnet::graphdir
