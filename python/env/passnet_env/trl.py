"""Multi-turn GRPO with TRL: the agent's tools as an environment.

    GRPOTrainer(…, environment_factory=PassEnvironment, train_dataset=Dataset.from_list(rows(["samples/vit_add_layer_norm"])))
"""

from collections.abc import Iterable, Sequence
from typing import Any

from passnet_env.client import Attempt


def rows(samples: Iterable[str]) -> list[dict[str, Any]]:
    """The data set: a row per directory of a sample. reset() adds the task to the prompt."""
    return [{"prompt": [{"role": "user", "content": ""}], "sample": str(sample)} for sample in samples]


class PassEnvironment:
    """One rollout at a time. Its public methods are the model's tools. options: of Attempt, bound by functools.partial."""

    def __init__(self, options: Sequence[str] = ()) -> None:
        self._options = options
        self._attempt: Attempt | None = None

    def reset(self, sample: str, **_: Any) -> str:
        if self._attempt is not None:
            self._attempt.close()
        self._attempt = Attempt(sample, self._options)
        return self._attempt.prompt

    def get_reward(self) -> float | None:
        if self._attempt is None:
            raise RuntimeError("no rollout: reset() comes first")
        return self._attempt.reward()

    def _call(self, tool: str, **arguments: Any) -> str:
        if self._attempt is None:
            raise RuntimeError("no rollout: reset() comes first")
        return self._attempt.call(tool, **arguments).text

    def file_editor(self, command: str, path: str, file_text: str | None = None, old_str: str | None = None, new_str: str | None = None,
                    insert_line: int | None = None, view_range: list[int] | None = None) -> str:
        """Views, makes and changes files of the workspace.

        Args:
            command: view, create, str_replace, insert, or undo_edit (the last edit of a file)
            path: relative: pass_dir/NAME.py, graphs/…; files are written in pass_dir alone
            file_text: create: the whole text
            old_str: str_replace: text that stands in the file exactly once
            new_str: str_replace, insert: the new text
            insert_line: insert: after this line; 0 is the beginning
            view_range: view: [first, last], -1 is the end
        """
        return self._call("file_editor", command=command, path=path, file_text=file_text, old_str=old_str, new_str=new_str,
                          insert_line=insert_line, view_range=view_range)

    def pass_match(self, graph: str | None = None) -> str:
        """Shows where the passes in pass_dir match, and the nearest miss where they do not. Takes milliseconds.

        Args:
            graph: the name of one graph
        """
        return self._call("pass_match", graph=graph)

    def pass_evaluator(self) -> str:
        """Evaluates the passes in pass_dir on every graph: matched, compiled, checked against PyTorch and timed. Takes seconds."""
        return self._call("pass_evaluator")

    def pass_explain(self, graph: str | None = None) -> str:
        """Evaluates with a profile: why a graph is wrong, or where the time of a call goes, launch by launch.

        Args:
            graph: the name of one graph
        """
        return self._call("pass_explain", graph=graph)

    def graph_info(self, graph: str | None = None) -> str:
        """Shows what the graphs of the task compute (as Python) and the shapes and dtypes of what goes in.

        Args:
            graph: the name of one graph; default: all
        """
        return self._call("graph_info", graph=graph)
