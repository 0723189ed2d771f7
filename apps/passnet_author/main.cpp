// passnet-author: passes without a model.
#include "author.h"
#include "new.h"
#include "program.h"

int main(int argc, char** argv) {
  using namespace passnet::cli;
  return run_program(argc, argv, [](CLI::App& app, int& exit_code) {
    add_author(app, exit_code);
    add_pass_new(app, exit_code);
  });
}
