// The text of docs/glossary.md, as part of the program.
#pragma once

namespace passnet::cli {

extern const char* const kGlossary;

}  // namespace passnet::cli
