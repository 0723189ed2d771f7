"""Group relative policy optimization (GRPO) of a causal language model: it writes passes, and `passnet reward` says what they are worth.

    passnet reward samples/* --listen 8765 &
    python3 python/recipes/grpo.py --model sft-model --reward-url http://127.0.0.1:8765 --out grpo-model

The model is told a task and answers with the files of its pass; the reward is the aggregated score (1 = eager; above it is faster).
Writes the model, its tokenizer and `training.json` (arguments, reward and loss by step) to --out.
Needs TRL (pip install "trl>=1.0"). Exit code 2: the arguments are wrong; 4: the service does not answer.
"""

import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from recipe import finish, keep_history, load_model, options_for_training, training_arguments  # noqa: E402
from rewards import RewardService, text_of  # noqa: E402


def parse_options(arguments):
    parser = argparse.ArgumentParser(prog="grpo.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reward-url", required=True, help="of `passnet reward`: http://127.0.0.1:8765")
    parser.add_argument("--group", type=int, default=8, help="answers per task that are compared with each other (8)")
    parser.add_argument("--answer-tokens", type=int, default=4096, help="the longest answer (4096)")
    parser.add_argument("--temperature", type=float, default=1.0, help="(1)")
    options_for_training(parser, learning_rate=1e-6)
    options = parser.parse_args(arguments)
    if options.batch % options.group != 0:
        options.batch = options.group * max(1, round(options.batch / options.group))
    return options


def train(options):
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    service = RewardService(options.reward_url)
    tasks = [{"task": one["task"], "prompt": [{"role": "user", "content": one["prompt"]}]} for one in service.tasks()]
    if not tasks:
        raise ValueError(f"{options.reward_url} has no tasks: give samples to `passnet reward`")

    def aggregated_score(completions, task, **_):
        return [float(one["reward"]) for one in service.judge([text_of(completion) for completion in completions], task)]

    model, tokenizer = load_model(options.model)
    tokenizer.padding_side = "left"
    config = GRPOConfig(num_generations=options.group, max_completion_length=options.answer_tokens, temperature=options.temperature,
                        **training_arguments(options))
    trainer = GRPOTrainer(model=model, processing_class=tokenizer, args=config, reward_funcs=aggregated_score,
                          train_dataset=Dataset.from_list(tasks))
    trainer.train()
    trainer.save_model(str(options.out))
    keep_history(options, trainer.state.log_history)


def main(arguments):
    return finish(train, parse_options(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
