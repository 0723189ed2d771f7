"""The reward of PassNet for verl: `reward.custom_reward_function.path=pkg://passnet_env.verl`, `.name=compute_score`."""

from typing import Any

from passnet_env.client import RewardService

URL = "http://127.0.0.1:8765"


def compute_score(data_source: str, solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None, url: str = URL,
                  **_: Any) -> dict[str, float]:
    """The reward of an answer. ground_truth: the name of its task; url: of `passnet reward`, set by `.reward_kwargs.url`.

    verl can leave no answer out: one that could not be measured has the score of doing nothing, 1, and "measured" 0.
    """
    verdict = RewardService(url).judge([solution_str], [ground_truth])[0]
    measured = verdict["verdict"] != "unmeasured"
    return {"score": float(verdict["reward"]) if measured else 1.0, "correct": float(verdict["verdict"] == "correct"), "measured": float(measured)}


def rows(url: str = URL) -> list[dict[str, Any]]:
    """The rows of verl's parquet file, one per task: pandas.DataFrame(rows()).to_parquet("train.parquet")."""
    return [{"data_source": "passnet", "prompt": [{"role": "user", "content": task["prompt"]}], "ability": "kernels",
             "reward_model": {"style": "rule", "ground_truth": task["task"]}, "extra_info": {"index": index}}
            for index, task in enumerate(RewardService(url).tasks())]
