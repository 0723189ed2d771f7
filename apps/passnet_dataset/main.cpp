// passnet-dataset: from models to samples.
#include "dataset.h"
#include "program.h"

int main(int argc, char** argv) {
  using namespace passnet::cli;
  return run_program(argc, argv, [](CLI::App& app, int& exit_code) {
    add_dataset(app, exit_code);
    add_graph_cut(app, exit_code);
  });
}
