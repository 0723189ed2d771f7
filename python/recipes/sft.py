"""Supervised fine-tuning of a causal language model on trajectories that `passnet agent export --format trl` wrote.

    python3 python/recipes/sft.py --model Qwen/Qwen3-8B --data trajectories.jsonl --out sft-model

Each line is a conversation with tools: {"messages": […], "tools": […]}. Only what the model itself wrote is learnt from: the loss
leaves out the prompt and what tools answered. The chat template must mark what the assistant wrote ({% generation %}); TRL knows
such a form of the templates of the common model families.

Writes the model, its tokenizer and `training.json` (arguments, and the loss by step) to --out.
Needs TRL (pip install "trl>=1.0"). Exit code 2: the arguments or the data are wrong.
"""

import argparse
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from recipe import finish, keep_history, load_model, options_for_training, read_lines, training_arguments  # noqa: E402


def parse_options(arguments):
    parser = argparse.ArgumentParser(prog="sft.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="of `passnet agent export --format trl`")
    parser.add_argument("--max-tokens", type=int, default=32768, help="longer conversations are cut at their end (32768)")
    options_for_training(parser, learning_rate=1e-5)
    return parser.parse_args(arguments)


def read_conversations(path):
    """The conversations of a file. Raises ValueError naming the line that is none."""
    conversations = []
    for place, line in read_lines(path):
        if not isinstance(line.get("messages"), list) or not line["messages"]:
            raise ValueError(f"{place}: no 'messages', expected a line of `passnet agent export --format trl`")
        if not any(message.get("role") == "assistant" for message in line["messages"]):
            raise ValueError(f"{place}: no message of the assistant, so there is nothing to learn")
        conversations.append({"messages": line["messages"], "tools": json.dumps(line.get("tools") or [])})
    if not conversations:
        raise ValueError(f"{path}: no conversations")
    return conversations


def train(options):
    conversations = read_conversations(options.data)  # before the imports, which take seconds

    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    model, tokenizer = load_model(options.model)
    config = SFTConfig(max_length=options.max_tokens, assistant_only_loss=True, packing=False, **training_arguments(options))
    trainer = SFTTrainer(model=model, processing_class=tokenizer, args=config, train_dataset=Dataset.from_list(conversations))
    trainer.train()
    trainer.save_model(str(options.out))
    keep_history(options, trainer.state.log_history)


def main(arguments):
    return finish(train, parse_options(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
