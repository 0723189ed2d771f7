// A Json on the heap with the semantics of a value, after std::indirect of C++26. Members of types in headers have this
// type, so that <nlohmann/json.hpp> is parsed only where their values are used.
#pragma once

#include <memory>

#include "base/json/json.h"

namespace passnet {

class IndirectJson {
 public:
  IndirectJson();  // null
  IndirectJson(Json value);
  IndirectJson(const IndirectJson& other);
  IndirectJson(IndirectJson&& other) noexcept;
  IndirectJson& operator=(IndirectJson other) noexcept;
  ~IndirectJson();

  static IndirectJson array();
  static IndirectJson object();

  // REQUIRES of all: not moved from.
  Json& operator*() { return *value_; }
  const Json& operator*() const { return *value_; }
  Json* operator->() { return value_.get(); }
  const Json* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<Json> value_;
};

}  // namespace passnet
