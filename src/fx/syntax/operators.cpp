#include "fx/syntax/operators.h"

#include <algorithm>
#include <cstring>

namespace passnet::fx {

const OperatorRow* find_operator(std::string_view target) {
  const auto* row = std::ranges::find(kOperators, target, &OperatorRow::target);
  return row == kOperators.end() ? nullptr : row;
}

const OperatorRow* find_operator_function(std::string_view function) {
  const auto* row = std::ranges::find(kOperators, function, &OperatorRow::function);
  return row == kOperators.end() ? nullptr : row;
}

const OperatorRow* operator_at(const char* at, bool in_place) {
  if (*at == 0 || std::strchr("+-*/%@&|^<>=!", *at) == nullptr) return nullptr;
  const size_t doubled = (*at == '*' || *at == '/' || *at == '<' || *at == '>') && at[1] == at[0] ? 2 : 1;
  const bool compare = std::strchr("<>=!", *at) != nullptr && doubled == 1;
  size_t length = doubled;
  if (*at == '-' && at[1] == '>') return nullptr;  // the arrow of a signature
  if (at[doubled] == '=') {
    if (!compare && !in_place) return nullptr;
    length = doubled + 1;
  } else if (in_place) {
    return nullptr;
  }
  const OperatorRow* row = find_operator({at, length});
  return row != nullptr && (row->form == OperatorForm::InPlace) == in_place ? row : nullptr;
}

}  // namespace passnet::fx
