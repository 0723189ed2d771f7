"""Group relative policy optimization (GRPO) of a causal language model that writes passes. The reward is the score (1 = eager).

    passnet reward samples/* --listen 8765 &
    python3 python/recipes/grpo.py --model sft-model --reward-url http://127.0.0.1:8765 --out grpo-model
    python3 python/recipes/grpo.py --model sft-model --samples samples/* --out grpo-model

With --reward-url the model answers once, with the files of its pass, and `passnet reward` judges it. With --samples it calls the
agent's tools over many turns, each rollout in a `passnet mcp` of its own.
Writes the model, its tokenizer and `training.json` (arguments, reward and loss by step) to --out.
Needs TRL (pip install "trl>=1.16"). Exit code 2: the arguments are wrong; 4: the service does not answer.
"""

import argparse
import functools
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "env")]

from passnet_env.client import RewardService, text_of  # noqa: E402
from passnet_env.trl import PassEnvironment, rows  # noqa: E402
from recipe import finish, keep_history, load_model, options_for_training, training_arguments  # noqa: E402


def parse_options(arguments):
    parser = argparse.ArgumentParser(prog="grpo.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_mutually_exclusive_group(required=True)
    tasks.add_argument("--reward-url", help="of `passnet reward`, for one answer per task: http://127.0.0.1:8765")
    tasks.add_argument("--samples", nargs="+", help="directories of samples, for attempts with tools")
    parser.add_argument("--device", default="cpu", help="that --samples are evaluated on: cpu, cuda or cuda:N (cpu)")
    parser.add_argument("--turns", type=int, default=50, help="calls of tools in an attempt (50)")
    parser.add_argument("--group", type=int, default=8, help="answers per task that are compared with each other (8)")
    parser.add_argument("--answer-tokens", type=int, default=4096, help="the longest answer (4096)")
    parser.add_argument("--temperature", type=float, default=1.0, help="(1)")
    options_for_training(parser, learning_rate=1e-6)
    options = parser.parse_args(arguments)
    if options.batch % options.group != 0:
        options.batch = options.group * max(1, round(options.batch / options.group))
    return options


def one_answer(options):
    """The arguments of the trainer for answers that `passnet reward` judges."""
    service = RewardService(options.reward_url)
    tasks = [{"task": one["task"], "prompt": [{"role": "user", "content": one["prompt"]}]} for one in service.tasks()]
    if not tasks:
        raise ValueError(f"{options.reward_url} has no tasks: give samples to `passnet reward`")

    def aggregated_score(completions, task, **_):
        return [float(one["reward"]) for one in service.judge([text_of(completion) for completion in completions], task)]

    return {"reward_funcs": aggregated_score}, tasks


def with_tools(options):
    """The same for attempts with tools."""
    return {"environment_factory": functools.partial(PassEnvironment, ("--device", options.device))}, rows(options.samples)


def train(options):
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    judged_by, tasks = with_tools(options) if options.samples else one_answer(options)
    model, tokenizer = load_model(options.model)
    tokenizer.padding_side = "left"
    config = GRPOConfig(num_generations=options.group, max_completion_length=options.answer_tokens, temperature=options.temperature,
                        max_tool_calling_iterations=options.turns, **training_arguments(options))
    trainer = GRPOTrainer(model=model, processing_class=tokenizer, args=config, train_dataset=Dataset.from_list(tasks), **judged_by)
    trainer.train()
    trainer.save_model(str(options.out))
    keep_history(options, trainer.state.log_history)


def main(arguments):
    return finish(train, parse_options(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
