// External commands: commands of `passnet` that programs beside it run, as git has them. `passnet eval` then builds and
// links none of their modules. `passnet` lists each command and starts its program; the program adds the same command.
#pragma once

#include <string_view>

namespace CLI {
class App;
}

namespace passnet::cli {

struct ExternalCommand {
  std::string_view group;  // of `passnet` that holds it; empty: none
  std::string_view name;
  std::string_view about;
  std::string_view program;           // a file beside `passnet`
  std::string_view subcommands = {};  // separated by blanks, in the order of the help
};

inline constexpr ExternalCommand kLeaderboard{"", "leaderboard", "evaluate submissions to a benchmark",
                                              "passnet-leaderboard", "score agree"};
inline constexpr ExternalCommand kAgent{"", "agent", "let a language model write passes, step by step", "passnet-agent",
                                        "run show replay export table"};
inline constexpr ExternalCommand kMcp{"", "mcp", "serve the agent's tools to a coding agent (Model Context Protocol)",
                                      "passnet-agent"};
inline constexpr ExternalCommand kReward{"", "reward", "serve rewards for passes over HTTP, for reinforcement learning",
                                         "passnet-agent"};
inline constexpr ExternalCommand kAuthor{"", "author", "write passes for samples without a language model",
                                         "passnet-author"};
inline constexpr ExternalCommand kPassNew{
    "pass", "new", "write a pass to start from: Name.py, its kernels, and its line in the list", "passnet-author"};
inline constexpr ExternalCommand kSelftest{"", "selftest", "run known attacks and honest passes through the evaluation",
                                           "passnet-selftest"};
inline constexpr ExternalCommand kDataset{
    "", "dataset", "capture models and cut their graphs into samples", "passnet-dataset",
    "capture build decompose generalize dedup samples split groups official export push show index find stats"};
inline constexpr ExternalCommand kGraphCut{"graph", "cut", "cut a range of nodes out of a graph into a new graph",
                                           "passnet-dataset"};

inline constexpr ExternalCommand kMerge{"", "merge", "make one run out of those of several machines",
                                        "passnet-cluster"};
inline constexpr ExternalCommand kQueue{"", "queue", "fill, show and steer a queue of samples for several machines",
                                        "passnet-cluster", "add status retry drain"};
inline constexpr ExternalCommand kWork{"", "work", "take samples from a queue until none is left", "passnet-cluster"};
inline constexpr ExternalCommand kSubmit{"", "submit", "run a command as an array of Slurm jobs, and merge the results",
                                         "passnet-cluster"};

inline constexpr ExternalCommand kStore{"", "store", "keep records of many runs in one file, and ask it",
                                        "passnet-site", "add list compare history prune"};
inline constexpr ExternalCommand kSite{"", "site", "write a site of pages: leaderboard, tasks, comparisons",
                                       "passnet-site"};
inline constexpr ExternalCommand kServe{
    "", "serve", "show runs while they grow, and give a queue to workers, over HTTP", "passnet-site"};

/// Adds the command to the program that runs it, within its group.
CLI::App* add_command(CLI::App& app, const ExternalCommand& command);

}  // namespace passnet::cli
