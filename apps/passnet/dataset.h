// The subcommands of `passnet dataset`.
#pragma once

namespace CLI {
class App;
}

namespace passnet::cli {

void add_dataset_capture(CLI::App& group, int& exit_code);
void add_dataset_decompose(CLI::App& group, int& exit_code);
void add_dataset_find(CLI::App& group, int& exit_code);
void add_dataset_generalize(CLI::App& group, int& exit_code);
void add_dataset_index(CLI::App& group, int& exit_code);
void add_dataset_samples(CLI::App& group, int& exit_code);
void add_dataset_show(CLI::App& group, int& exit_code);
void add_dataset_stats(CLI::App& group, int& exit_code);

}  // namespace passnet::cli
