#include "base/json/json_indirect.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace passnet {

IndirectJson::IndirectJson() : value_(std::make_unique<Json>()) {}
IndirectJson::IndirectJson(Json value) : value_(std::make_unique<Json>(std::move(value))) {}
IndirectJson::IndirectJson(const IndirectJson& other) : value_(std::make_unique<Json>(*other)) {}
IndirectJson::IndirectJson(IndirectJson&& other) noexcept = default;
IndirectJson& IndirectJson::operator=(IndirectJson other) noexcept {
  value_.swap(other.value_);
  return *this;
}
IndirectJson::~IndirectJson() = default;

IndirectJson IndirectJson::array() { return Json::array(); }
IndirectJson IndirectJson::object() { return Json::object(); }

}  // namespace passnet
