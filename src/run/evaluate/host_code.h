// What becomes of the host code of passes: their plans, in Python.
#pragma once

namespace passnet::run {

enum class HostCode {
  Read,      // our reader reads it, and it runs nowhere
  Fallback,  // what our reader cannot read runs in a candidate in Python
  Python,    // all of it runs there
};

}  // namespace passnet::run
