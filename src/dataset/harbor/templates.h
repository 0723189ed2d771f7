// The files of an export with {{names}} to fill in, which CMake puts into the binary.
#pragma once

namespace passnet::dataset::templates {

extern const char* const kTask;         // task.toml
extern const char* const kEnvironment;  // environment/Dockerfile
extern const char* const kTests;        // tests/Dockerfile
extern const char* const kTest;         // tests/test.sh
extern const char* const kSolve;        // solution/solve.sh
extern const char* const kEval;         // eval.yaml of the dataset
extern const char* const kCard;         // README.md of the dataset

}  // namespace passnet::dataset::templates
