"""python/env without the libraries that it is for: attempts over `passnet mcp`, and their errors."""

import ast
import os
import sys
import unittest

from trainer_case import LIST, RIGHT, SOURCE, PassnetCase, writes

from passnet_env.client import Attempt, RewardService
from passnet_env.trl import PassEnvironment, rows

OWN = SOURCE / "python" / "env" / "passnet_env"


class Attempts(PassnetCase):
    def begin(self, *arguments):
        attempt = Attempt(*arguments or (self.sample,))
        self.addCleanup(attempt.close)
        return attempt

    def test_passes_are_written_matched_and_rewarded(self):
        attempt = self.begin()
        self.assertIn("def forward(self, in_0, in_1)", attempt.prompt)
        self.assertIn("submit", [tool["name"] for tool in attempt.tools])
        self.assertNotIn("task", attempt.tools[0]["inputSchema"]["properties"])
        for arguments in writes(RIGHT):
            self.assertFalse(attempt.call("file_editor", **arguments, view_range=None).is_error)
        self.assertIn("1 sites in 1 of 1 graphs", attempt.call("pass_match").text)
        submitted = attempt.call("submit")
        self.assertEqual(submitted.facts["graphs"][0]["sites"], 1)
        self.assertIn(attempt.reward(), (submitted.facts["score"], None))

    def test_an_edit_is_judged_anew(self):
        attempt = self.begin()
        self.assertEqual(attempt.reward(), 1)
        attempt.call("file_editor", **writes({LIST: '["missing"]'})[0])
        self.assertLess(attempt.reward(), 0.5)

    def test_attempts_share_nothing(self):
        first, second = self.begin(), self.begin()
        first.call("file_editor", **writes({LIST: "[]"})[0])
        self.assertTrue(second.call("file_editor", command="view", path=f"pass_dir/{LIST}").is_error)

    def test_wrong_calls_are_answers(self):
        attempt = self.begin()
        self.assertIn("no tool 'compile'", attempt.call("compile").text)
        self.assertTrue(attempt.call("file_editor", command="view", path="../../../etc/passwd").is_error)

    def test_says_why_there_is_no_attempt(self):
        with self.assertRaisesRegex(ConnectionError, "ended with exit code 3: error: .*nowhere"):
            Attempt(self.root / "nowhere")
        closed = self.begin()
        closed.close()
        with self.assertRaisesRegex(ConnectionError, "is closed"):
            closed.call("pass_match")
        path, os.environ["PATH"] = os.environ["PATH"], ""
        self.addCleanup(os.environ.update, PATH=path)
        with self.assertRaisesRegex(ConnectionError, "cannot start `passnet` .*PATH"):
            Attempt(self.sample)

    def test_a_rollout_of_trl_has_the_tools_of_passnet(self):
        environment, [row] = PassEnvironment(), rows([self.sample])
        self.assertIn("def forward(self, in_0, in_1)", environment.reset(**row))
        self.addCleanup(environment._attempt.close)
        tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in environment._attempt.tools if tool["name"] != "submit"}
        public = {name: method for name, method in vars(PassEnvironment).items() if not name.startswith("_") and name not in ("reset", "get_reward")}
        self.assertEqual({name: sorted(properties) for name, properties in tools.items()},
                         {name: sorted(set(method.__annotations__) - {"return"}) for name, method in public.items()})
        self.assertIn("in_0 + in_1", environment.graph_info())
        self.assertEqual(environment.get_reward(), 1)


class Package(unittest.TestCase):
    def test_the_client_needs_no_library(self):
        for path in (OWN / "__init__.py", OWN / "client.py", OWN / "trl.py", OWN / "verl.py"):
            imported = {name.split(".")[0] for node in ast.walk(ast.parse(path.read_text()))
                        for name in ([node.module] if isinstance(node, ast.ImportFrom) else
                                     [one.name for one in node.names] if isinstance(node, ast.Import) else [])}
            self.assertLessEqual(imported, {*sys.stdlib_module_names, "passnet_env"}, path.name)

    def test_a_service_that_does_not_answer_is_named(self):
        with self.assertRaisesRegex(ConnectionError, "is `passnet reward` running"):
            RewardService("http://127.0.0.1:1/").tasks()


if __name__ == "__main__":
    unittest.main(verbosity=2)
