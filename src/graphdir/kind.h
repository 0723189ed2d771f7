// The kinds of subgraphs that a whole graph is cut into.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace passnet::graphdir {

enum class Kind : uint8_t {
  SoleOp,   // one operator
  Fusible,  // operators for which a compiler launches no more kernels than for the first of them alone
  Typical,  // sequences of operators that occur again and again in models
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
