// The texts that CMake puts into the binary (src/agent/CMakeLists.txt).
#pragma once

namespace passnet::agent::texts {

extern const char *const kSystem, *const kTask;        // of an attempt with tools
extern const char *const kAnswer, *const kAnswerTask;  // of one answer without
extern const char* const kWorkspace;                   // of an agent with an editor and a shell of its own
extern const char* const kPasses;                      // {{passes}} in all: what a pass is
extern const char* const kExample;                     // {{example}} in that: a shipped worked example

/// A page of docs/.
struct Page {
  const char* name;  // "passes.md"
  const char* description;
  const char* text;
};
extern const Page kPages[3];

struct Example {
  const char* sample;
  const char* pass;
  const char* plan;  // Name.py, Name.cpp, Name.cu
  const char* cpu;
  const char* cuda;
};
extern const Example kExamples[2];

}  // namespace passnet::agent::texts
