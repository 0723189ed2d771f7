// The directories of the checkout and of its build. paths.cpp alone is compiled with them, so that ccache finds the objects
// of all other files in a clone elsewhere.
#pragma once

#include <filesystem>

namespace passnet::tests {

std::filesystem::path source_dir();
std::filesystem::path binary_dir();

}  // namespace passnet::tests
