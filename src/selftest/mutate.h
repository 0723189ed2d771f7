// Faults as people make them, put into the text of a kernel one at a time: a bound off by one, a guard left out, another
// operator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace passnet::selftest {

struct Mutant {
  std::string rule;           // "off by one"
  std::string text;           // the whole source
  uint32_t line = 0;          // that is changed
  std::string before, after;  // this line
};

/// Every mutant of a kernel's source: each rule at each place where it fits, comments and directives left out.
std::vector<Mutant> mutants_of(const std::string& source);

}  // namespace passnet::selftest
