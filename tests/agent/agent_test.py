"""`passnet agent` end to end, with a server that plays a model: one that can do it, and all that real ones do besides."""

import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "eval"))
from json_schema import problems
from passnet_case import BINARY, KERNEL, PASS, RIGHT_BODY, PassnetCase, take_one_processor
from scripted_server import (Calls, Cut, Raw, ScriptedServer, Stall, Status, Text, answers_so_far, create, create_all, files_of,
                             knows_samples, results_in)

take_one_processor()
KEY = "sk-test-4f1c9a7be2"
ADD_RELU = {"add_relu.py": PASS, "add_relu.cpp": KERNEL % RIGHT_BODY, "sorted_output_pass_rule_names.json": '["add_relu"]'}
WRONG = {**ADD_RELU, "add_relu.cpp": KERNEL % "    out[i] = x[i] + y[i];"}
SUBMIT = Calls([("submit", {})])


def by_turn(*answers):
    """The n-th answer of each conversation; the last one for good."""
    return lambda request, number: answers[min(answers_so_far(request), len(answers) - 1)]


EVALUATE = Calls([("pass_match", {}), ("pass_evaluator", {})])
COMPETENT = by_turn(create_all(ADD_RELU), EVALUATE, SUBMIT)
# Evaluates nothing: for what has nothing to do with passes.
LOOK = Calls([("graph_info", {})])
QUICK = by_turn(LOOK, LOOK, SUBMIT)


class AgentCase(PassnetCase):
    def command(self, server, *options, samples=None):
        return [str(BINARY), "agent", "run", *map(str, samples or [self.sample]), "--model", "scripted", "--base-url", server.url,
                "--first-wait", "0.01", "--warmup", "1", "--trials", "2", "-o", str(self.out), *map(str, options)]

    def environment(self, **more):
        return {**os.environ, "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "NO_PROXY": "127.0.0.1", **more}

    def agent(self, server, *options, samples=None, code=0):
        done = subprocess.run(self.command(server, *options, samples=samples), capture_output=True, text=True, timeout=600,
                              env=self.environment(), stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        self.assertNotIn(KEY, done.stdout + done.stderr)
        return done

    def attempt(self, number=0, sample="sample"):
        return self.out / sample / f"attempt_{number}"

    def trajectory(self, number=0, sample="sample"):
        return json.loads((self.attempt(number, sample) / "trajectory.jsonl").read_text())

    def evaluated(self, name, number=0):
        return [json.loads(line) for line in (self.attempt(number) / "evaluations" / name / "records.jsonl").read_text().splitlines()]

    def run_script(self, script, *options, **more):
        """Returns the server's requests and the trajectory."""
        with ScriptedServer(script) as server:
            self.agent(server, *options, **more)
            return server.requests, self.trajectory()

    def assert_all_right(self, observation, graphs):
        """Every graph of an evaluation is right, or was kept from being measured by what else the machine does."""
        right, of, unmeasured = re.search(r"; (\d+) of (\d+) graphs correct(?:, (\d+) not measured)?", observation).groups(default="0")
        self.assertEqual((int(right) + int(unmeasured), int(of)), (graphs, graphs), observation)

    def assert_no_key(self):
        files = [path for path in self.out.rglob("*") if path.is_file()]
        self.assertGreater(len(files), 5)
        for path in files:
            self.assertNotIn(KEY.encode(), path.read_bytes(), path)


class Competent(AgentCase):
    def test_a_model_writes_evaluates_and_submits(self):
        requests, trajectory = self.run_script(COMPETENT)
        self.assertEqual(trajectory["exit_reason"], "agent")
        self.assertEqual([step["step_count"] for step in trajectory["trajectory_steps"]], [1, 2, 3])
        self.assertIn("sites in 1 of 1 graphs", trajectory["trajectory_steps"][1]["observation"])
        self.assert_all_right(trajectory["trajectory_steps"][1]["observation"], 1)
        self.assertIn("<parameter=command>create</parameter>", trajectory["trajectory_steps"][0]["action"])
        self.assertEqual((trajectory["num_tokens_prompt"], trajectory["num_tokens_cached"], trajectory["num_tokens_completion"]), (300, 120, 30))
        self.assertGreaterEqual(trajectory["reward"], 1)
        self.assertEqual(self.evaluated("step_2_1")[0]["stage"], "done")
        facts = json.loads((self.attempt() / "evaluations" / "step_2_1" / "feedback.json").read_text())
        self.assertEqual((facts["correct"] + facts["unmeasured"], facts["graphs"][0]["verdict"]), (1, "correct"))
        self.assertIn("relu", trajectory["problem_statement"])
        path, headers, first = requests[0]
        self.assertEqual((path, headers["Authorization"]), ("/v1/chat/completions", f"Bearer {KEY}"))
        self.assertEqual({tool["function"]["name"] for tool in first["tools"]},
                         {"file_editor", "pass_match", "pass_evaluator", "pass_explain", "graph_info", "submit"})
        # The sample's own passes are nobody's hint.
        self.assertNotIn("add_relu", json.dumps(first))
        self.assert_no_key()

    def test_attempts_become_training_data(self):
        wrong = Calls([("file_editor", {"command": "view", "path": "../secret"})])
        self.run_script(by_turn(wrong, create_all(ADD_RELU), SUBMIT), "-k", "2")

        def exported(*options):
            file = self.root / "lines.jsonl"
            told = json.loads(self.passnet("agent", "export", self.out, "-o", file, "--min-score", "0", "--json", *options).stdout)
            self.assertEqual(problems(told, json.loads((SOURCE / "docs" / "schemas" / "agent_export.json").read_text())), [])
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            self.assertEqual(told["lines"], len(lines))
            return told, lines

        told, lines = exported("--format", "trl")
        self.assertEqual((told["attempts"], told["unfinished"], len(lines)), (2, 0, 2))
        roles = [message["role"] for message in lines[0]["messages"]]
        self.assertEqual(roles[:4], ["system", "user", "assistant", "tool"])
        self.assertEqual(lines[0]["messages"][2]["tool_calls"][0]["function"]["arguments"]["path"], "../secret")
        self.assertEqual(lines[0]["tools"][0]["type"], "function")
        self.assertEqual(len(exported("--best-per-sample")[1]), 1)
        self.assertEqual(len(exported("--drop-failed-turns")[1][0]["messages"]), len(roles) - 2)
        self.assertEqual({line["exit_reason"] for line in exported("--format", "rewards")[1]}, {"agent"})
        self.assertEqual(exported("--no-eval-leak", self.sample)[0], {"lines": 0, "attempts": 2, "unfinished": 0, "kept_back": 2})
        self.assertEqual(self.passnet("agent", "export", self.root / "sample").returncode, 3)

    def test_shipped_samples_with_the_passes_that_ship(self):
        # All twelve are checked in tests/eval/samples_test.py.
        samples = [SOURCE / "samples" / name for name in ("gpt2_gelu", "phi3_swiglu")]
        script = knows_samples(lambda _: LOOK, lambda task: create_all(files_of(SOURCE / "samples" / task)), lambda _: EVALUATE, lambda _: SUBMIT)
        with ScriptedServer(script) as server:
            self.agent(server, "--workers", "2", samples=samples)
        for sample in samples:
            with self.subTest(sample=sample.name):
                graphs = len((sample / "graph_list.txt").read_text().split())
                observation = self.trajectory(sample=sample.name)["trajectory_steps"][2]["observation"]
                self.assertIn(f"sites in {graphs} of {graphs} graphs", observation)
                self.assert_all_right(observation, graphs)

    def test_anthropic(self):
        requests, trajectory = self.run_script(by_turn(Calls([("graph_info", {}), ("pass_match", "not json")], "Two at once."), LOOK, SUBMIT), "--api", "anthropic")
        self.assertEqual((trajectory["exit_reason"], trajectory["num_tokens_prompt"], trajectory["num_tokens_cached"]), ("agent", 300, 120))
        path, headers, last = requests[-1]
        self.assertEqual((path, headers["x-api-key"]), ("/v1/messages", KEY))
        self.assertEqual([block["type"] for block in last["messages"][2]["content"]], ["tool_result"] * 2)
        self.assertEqual([block.get("is_error") for block in last["messages"][2]["content"]], [None, True])
        self.assertEqual(last["messages"][-1]["content"][-1]["cache_control"], {"type": "ephemeral"})
        self.assert_no_key()

    def test_whole_answers(self):
        requests, trajectory = self.run_script(QUICK, "--no-stream")
        self.assertEqual(trajectory["exit_reason"], "agent")
        self.assertNotIn("stream", requests[0][2])

    def test_calls_in_text(self):
        files = [create(name, text) for name, text in ADD_RELU.items() if name.startswith("add_relu")]
        blocks = "\n".join(f"```tool\n{json.dumps({'name': name, 'arguments': arguments})}\n```" for name, arguments in files)
        requests, trajectory = self.run_script(
            by_turn(Text("First the files.\n" + blocks), Text("<function=file_editor>\n<parameter=command>view</parameter>\n<parameter=path>pass_dir/add_relu.cpp</parameter>\n</function>"), Text('<tool_call>{"name": "submit", "arguments": {}}</tool_call>')),
            "--tools", "text")
        self.assertEqual(trajectory["exit_reason"], "agent")
        self.assertIn("PASSNET_KERNEL", trajectory["trajectory_steps"][1]["observation"])
        self.assertNotIn("tools", requests[0][2])
        self.assertIn("## pass_evaluator", requests[0][2]["messages"][0]["content"])
        self.assertEqual([message["role"] for message in requests[-1][2]["messages"]], ["system", "user", "assistant", "user", "assistant", "user"])

    def test_samples_from_json_lines(self):
        dataset = self.root / "samples.jsonl"
        dataset.write_text(json.dumps({"sample_path": "sample"}) + "\n")
        with ScriptedServer(by_turn(SUBMIT)) as server:
            self.agent(server, samples=[dataset])
        self.assertEqual(self.trajectory()["exit_reason"], "agent")

    def test_keys_from_files(self):
        file = self.root / "key"
        file.write_text(KEY + "\n")
        two = self.root / "two"
        two.write_text(f"{KEY}\n{KEY}\n")
        for number, (options, code) in enumerate(((["--key-file", file], 0), (["--key-file", two], 3))):
            with self.subTest(options=options), ScriptedServer(by_turn(SUBMIT)) as server:
                self.out = self.root / f"out_{number}"
                done = self.agent(server, *options, code=code)
                if code == 0:
                    self.assertEqual(server.requests[0][1]["Authorization"], f"Bearer {KEY}")
                else:
                    self.assertIn("expected a", done.stderr)

    def test_samples_are_chosen(self):
        samples = []
        for name in ("a1", "a2", "a3", "b"):
            samples.append(self.root / name)
            shutil.copytree(self.sample, samples[-1])
        for number, (options, chosen) in enumerate(((["--filter", "/a", "--limit", 2], ["a1", "a2"]), (["--filter", "/b"], ["b"]))):
            with self.subTest(options=options), ScriptedServer(by_turn(SUBMIT)) as server:
                self.out = self.root / f"out_{number}"
                result = json.loads(self.agent(server, "--json", *options, samples=samples).stdout)
                self.assertEqual(sorted(task["sample"] for task in result["tasks"]), chosen)
        with ScriptedServer(by_turn(SUBMIT)) as server:
            self.assertIn("no sample is left of 4", self.agent(server, "--filter", "none", samples=samples, code=3).stderr)

    def test_a_wrong_pass_is_explained_and_mended(self):
        _, trajectory = self.run_script(by_turn(create_all(WRONG), EVALUATE, Calls([("pass_explain", {"graph": "small"})]),
                                                create_all(ADD_RELU), EVALUATE, SUBMIT))
        steps = trajectory["trajectory_steps"]
        self.assertIn("0 of 1 graphs correct", steps[1]["observation"])
        self.assertIn("the first at [", steps[1]["observation"])
        self.assertIn("next: small: results are wrong", steps[1]["observation"])
        self.assertIn("the first at [", steps[2]["observation"])
        self.assert_all_right(steps[4]["observation"], 1)

    def test_doing_nothing_is_worth_one(self):
        _, trajectory = self.run_script(by_turn(SUBMIT))
        self.assertEqual((trajectory["exit_reason"], trajectory["reward"], trajectory["output_patch"]), ("agent", 1, ""))

    def test_what_was_never_evaluated_is_in_the_end(self):
        self.run_script(by_turn(create_all(ADD_RELU), SUBMIT))
        self.assertEqual(self.evaluated("step_2_1")[0]["stage"], "done")

    def test_attempts_at_once_and_what_they_come_to(self):
        with ScriptedServer(QUICK) as server:
            done = self.agent(server, "-k", 3, "--workers", 3, "--json")
        result = json.loads(done.stdout)
        self.assertEqual([one["attempt"] for one in result["tasks"][0]["attempts"]], [0, 1, 2])
        self.assertEqual(set(result["pass_at_k"]), {"1", "2", "3"})
        self.assertEqual(result["usage"]["input"], 900)
        self.assertIn("3/3 attempts, 0 running, 0 failed; best ", done.stderr)
        self.assertEqual(len((self.out / "trajectories.jsonl").read_text().splitlines()), 3)
        schema = json.loads((SOURCE / "docs" / "schemas" / "agent_run.json").read_text())
        self.assertEqual(problems(result, schema), [])
        table = json.loads(self.passnet("agent", "table", self.out, "--json").stdout)
        self.assertEqual(problems(table, json.loads((SOURCE / "docs" / "schemas" / "agent_table.json").read_text())), [])
        self.assertEqual((table[0]["attempts"], table[0]["k"], table[0]["tokens"]), (3, 3, 990))
        self.assertIn("pass@k", self.passnet("agent", "table", self.out).stdout)

    def test_shown_and_replayed(self):
        self.run_script(COMPETENT)
        shown = self.passnet("agent", "show", self.attempt())
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("=== step 2", shown.stdout)
        spent = json.loads((self.out / "results.json").read_text())
        attempt = spent["tasks"][0]["attempts"][0]
        self.assertTrue(0 < attempt["device_seconds"] <= attempt["tool_seconds"], attempt)
        self.assertGreaterEqual(spent["device_seconds"], attempt["device_seconds"])
        schema = json.loads((SOURCE / "docs" / "schemas" / "agent_show.json").read_text())
        self.assertEqual(problems(json.loads(self.passnet("agent", "show", self.attempt(), "--json").stdout), schema), [])
        page = self.root / "page.html"
        self.assertEqual(self.passnet("agent", "show", self.attempt(), "--html", page).returncode, 0)
        self.assertIn("<h2>sample/attempt_0</h2>", page.read_text())
        # As if it had won: on a busy machine nothing does.
        trajectory = self.trajectory()
        trajectory["output_patch"] = "".join(
            f"diff --git a/pass_dir/{name} b/pass_dir/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/pass_dir/{name}\n@@ -0,0 +1,{len(text.splitlines())} @@\n"
            + "".join(f"+{line}\n" for line in text.splitlines()) for name, text in ADD_RELU.items())
        recorded = self.root / "recorded.jsonl"
        recorded.write_text(json.dumps(trajectory) + "\n")
        done = self.passnet("agent", "replay", recorded, self.sample, "--json")
        (now,) = json.loads(done.stdout)
        self.assertEqual((now["graphs"], now["correct"] + now["unmeasured"]), (1, 1))
        self.assertEqual(done.returncode, now["unmeasured"], done.stderr)
        schema = json.loads((SOURCE / "docs" / "schemas" / "agent_replay.json").read_text())
        self.assertEqual(problems(json.loads(done.stdout), schema), [])
        trajectory["output_patch"] = trajectory["output_patch"].replace("pass_dir/add_relu.py", "../add_relu.py")
        recorded.write_text(json.dumps(trajectory) + "\n")
        refused = self.passnet("agent", "replay", recorded, self.sample)
        self.assertEqual(refused.returncode, 3)
        self.assertIn("it has '..'", refused.stderr)


class Mistakes(AgentCase):
    """What models do wrong is answered, and the attempt goes on."""

    def test_calls_that_cannot_be_made(self):
        (self.root / "secret.txt").write_text("nothing for a model")
        calls = [("file_editor", '{"command": "view", "path": '), ("file_editor", "[1]"), ("file_edit", {"command": "view"}),
                 ("bash", {"cmd": "ls"}), ("file_editor", {"command": "view", "path": "../../../../secret.txt"}),
                 ("file_editor", {"command": "view", "path": "/etc/passwd"}),
                 ("file_editor", {"command": "create", "path": "graphs/small/model.py", "file_text": "x"}),
                 ("file_editor", {"command": "create", "path": "pass_dir/../../x", "file_text": "x"}),
                 ("file_editor", {"command": "str_replace", "path": "pass_dir/none.py", "old_str": "a"}),
                 ("pass_match", {}), ("pass_explain", {"graph": "smal"}), ("str_replace_editor", {"command": "view", "file_path": "graph_list.txt"})]
        requests, trajectory = self.run_script(by_turn(Calls(calls), SUBMIT))
        results = results_in(requests[-1][2])
        for result, expected in zip(results, ["arguments of file_editor", "expected an object of JSON", "did you mean 'file_editor'?", "the tools are",
                                              "it has '..'", "it is absolute", "only files in pass_dir can be written", "it has '..'",
                                              "there is no such file", "sorted_output_pass_rule_names.json", "for example 'small'", "1  small"]):
            self.assertIn(expected, result)
        self.assertEqual(len(results), len(calls))
        self.assertNotIn("nothing for a model", json.dumps(requests))
        self.assertEqual(trajectory["exit_reason"], "agent")

    def test_edits(self):
        path = "pass_dir/a.py"
        requests, _ = self.run_script(by_turn(Calls([
            ("file_editor", {"command": "create", "path": path, "file_text": "a = 1\nb = 2\n"}),
            ("file_editor", {"command": "str_replace", "path": path, "old_str": "b = 2", "new_str": "b = 3"}),
            ("file_editor", {"command": "insert", "path": path, "insert_line": "0", "new_str": "import torch"}),
            ("file_editor", {"command": "view", "path": path, "view_range": "[2, 3]"}),
            ("file_editor", {"command": "undo_edit", "path": path}), ("file_editor", {"command": "undo_edit", "path": path}),
            ("file_editor", {"command": "undo_edit", "path": path}), ("file_editor", {"command": "undo_edit", "path": path})]), SUBMIT))
        results = results_in(requests[-1][2])
        self.assertIn("    2  a = 1\n    3  b = 3\n", results[3])
        self.assertIn("    2  b = 2\n", results[5])
        self.assertIn("it is gone", results[6])
        self.assertIn("there is no edit of it to undo", results[7])

    def test_an_endless_loop_ends(self):
        _, trajectory = self.run_script(by_turn(LOOK), "--max-steps", "4")
        self.assertEqual((trajectory["exit_reason"], len(trajectory["trajectory_steps"])), ("max_step_limit", 4))

    def test_refusals_end_it(self):
        _, trajectory = self.run_script(by_turn(Text("I cannot help with that.")))
        self.assertEqual((trajectory["exit_reason"], len(trajectory["trajectory_steps"])), ("no_tool_call", 3))

    def test_old_results_are_cut_when_the_context_is_full(self):
        requests, trajectory = self.run_script(by_turn(Calls([("graph_info", {}), create("notes.txt", "word " * 800)])), "--max-steps", "12", "--token-limit", "8000")
        self.assertEqual(trajectory["exit_reason"], "max_step_limit")
        self.assertIn("of this older result are left out", json.dumps(requests[-1][2]))
        self.assertLess(len(json.dumps(requests[-1][2]["messages"])), 40000)

    def test_a_limit_that_nothing_fits(self):
        _, trajectory = self.run_script(QUICK, "--token-limit", "100")
        self.assertEqual((trajectory["exit_reason"], trajectory["trajectory_steps"]), ("token_limit", []))

    def test_costs(self):
        prices = self.root / "prices.json"
        prices.write_text('{"scripted": {"input": 10000, "cached": 0, "output": 0}}')
        _, trajectory = self.run_script(by_turn(LOOK), "--price-file", prices, "--cost-limit", "1")
        self.assertEqual(trajectory["exit_reason"], "cost_limit")
        self.assertAlmostEqual(trajectory["cost"], 1.2)


class Servers(AgentCase):
    """What servers do wrong is waited for, asked again or told."""

    def test_busy_and_broken_and_then_well(self):
        troubles = [Status(429, {"Retry-After": "0"}, '{"error": {"message": "slow down"}}'), Status(500), Cut(), Status(503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
                    Raw(b"data: {not json\n\n")]
        script = lambda request, number: troubles[number] if number < len(troubles) else QUICK(request, number)
        requests, trajectory = self.run_script(script)
        self.assertEqual(len(requests), len(troubles) + 3)
        self.assertEqual(trajectory["exit_reason"], "agent")

    def test_silence_is_ended(self):
        script = lambda request, number: Stall(600) if number == 0 else QUICK(request, number)
        requests, trajectory = self.run_script(script, "--answer-timeout", "10")
        self.assertEqual((len(requests), trajectory["exit_reason"]), (4, "agent"))

    def test_a_storm_ends_the_attempt_and_resume_goes_on(self):
        storm = [True]
        script = lambda request, number: Status(429, {}, '{"error": {"message": "busy, key %s"}}' % KEY) if storm and number > 0 else QUICK(request, number)
        with ScriptedServer(script) as server:
            done = self.agent(server, "--tries", 3, code=4)
            self.assertIn("429", done.stderr)
            self.assertEqual(self.trajectory()["exit_reason"], "llm_query_error")
            self.assertEqual(len(self.trajectory()["trajectory_steps"]), 1)
            self.assert_no_key()
            storm.clear()
            self.agent(server, "--resume")
        self.assertEqual(self.trajectory()["exit_reason"], "agent")
        self.assertEqual(len(self.trajectory()["trajectory_steps"]), 3)

    def test_a_key_that_is_refused_is_not_tried_again(self):
        with ScriptedServer(lambda request, number: Status(401, {}, '{"error": {"message": "Incorrect API key provided: %s"}}' % KEY)) as server:
            done = self.agent(server, code=4)
            self.assertEqual(len(server.requests), 1)
        self.assertIn("Incorrect API key provided: [key]", done.stderr)
        self.assertIn("OPENAI_API_KEY", done.stderr)

    def test_nobody_is_there(self):
        with ScriptedServer(QUICK) as server:
            pass
        done = self.agent(server, "--tries", 2, code=4)
        self.assertIn("is the server up", done.stderr)

    def test_what_a_server_refuses_is_asked_in_another_way(self):
        def script(request, number):
            for field in ("max_tokens", "stream_options"):
                if field in request:
                    return Status(400, {}, json.dumps({"error": {"message": f"Unsupported parameter: '{field}' is not supported."}}))
            if any(message["content"] is None for message in request["messages"]):
                return Status(400, {}, json.dumps({"error": {"message": "messages: content must be a string, found null"}}))
            return QUICK(request, number)

        requests, trajectory = self.run_script(script, "--max-output-tokens", "99")
        self.assertEqual(trajectory["exit_reason"], "agent")
        self.assertEqual([request.get("max_completion_tokens") for _, _, request in requests], [None] + [99] * 5)
        # Each is refused once.
        self.assertEqual(len(requests), 3 + 3)
        server = Status(400, {}, '{"error": {"message": "m does not support tools"}}')
        self.out = self.root / "without_tools"
        with ScriptedServer(lambda request, number: server) as other:
            self.assertIn("hint: --tools text", self.agent(other, code=4).stderr)

    def test_what_goes_back_is_what_any_server_takes(self):
        cut = {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"name": "file_editor", "arguments": '{"command": "create", "file_text": "x'}}]},
                            "finish_reason": "length"}]}
        doubled = Calls([("file_editor", json.dumps(json.dumps({"command": "view", "path": "."}))), ("graph_info", "")])
        requests, trajectory = self.run_script(by_turn(Raw(f"data: {json.dumps(cut)}".encode()), doubled, doubled, SUBMIT))
        self.assertEqual(trajectory["exit_reason"], "agent")
        calls = [call for message in requests[-1][2]["messages"] for call in message.get("tool_calls", [])]
        self.assertEqual([json.loads(call["function"]["arguments"]) for call in calls], [{}, {"command": "view", "path": "."}, {}, {"command": "view", "path": "."}, {}])
        self.assertEqual(len({call["id"] for call in calls}), len(calls))
        self.assertIn("missing closing quote", results_in(requests[-1][2])[0])

    def test_ten_megabytes_and_bytes_that_are_no_text(self):
        broken = b'data: {"choices": [{"index": 0, "delta": {"content": "\xff\xfe broken \xc3"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
        requests, trajectory = self.run_script(by_turn(Text("x" * 10_000_000), Raw(broken), SUBMIT))
        self.assertEqual(trajectory["exit_reason"], "agent")
        thoughts = [step["thought"] for step in trajectory["trajectory_steps"]]
        self.assertLess(len(thoughts[0]), 300_000)
        self.assertIn("[cut: ", thoughts[0])
        self.assertIn("\ufffd", thoughts[1])


class GoingOn(AgentCase):
    def start(self, server, *options):
        return subprocess.Popen(self.command(server, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment())

    def wait_for(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_a_kill_loses_at_most_the_step_in_flight(self):
        first = lambda request, number: create_all(ADD_RELU) if answers_so_far(request) == 0 else Stall(600)
        with ScriptedServer(first) as server:
            running = self.start(server)
            self.wait_for(lambda: len(server.requests) == 2)
            running.send_signal(signal.SIGKILL)
            running.communicate(timeout=60)
        self.assertEqual(len(self.trajectory()["trajectory_steps"]), 1)
        # As if it had been killed in the middle of the next one: its edit is there, its line is torn.
        completions = self.attempt() / "completions.jsonl"
        with completions.open("a") as file:
            file.write('{"step": 2, "messages": [')
        kernel = self.attempt() / "workspace" / "pass_dir" / "add_relu.cpp"
        with (self.attempt() / "edits.jsonl").open("a") as file:
            file.write(json.dumps({"step": 2, "path": "pass_dir/add_relu.cpp", "before": kernel.read_text()}) + "\n")
        kernel.write_text("half of an edit")
        requests, trajectory = self.run_script(COMPETENT, "--resume")
        self.assertEqual(len(requests), 2)
        self.assertEqual([message["role"] for message in requests[0][2]["messages"]], ["system", "user", "assistant"] + ["tool"] * 3)
        self.assertEqual((trajectory["exit_reason"], len(trajectory["trajectory_steps"])), ("agent", 3))
        self.assertEqual(kernel.read_text(), ADD_RELU["add_relu.cpp"])

    def test_interrupted_while_the_model_answers(self):
        with ScriptedServer(lambda request, number: Stall(600) if number == 1 else QUICK(request, max(0, number - 1))) as server:
            running = self.start(server)
            self.wait_for(lambda: len(server.requests) == 2)
            running.send_signal(signal.SIGTERM)
            _, told = running.communicate(timeout=60)
            self.assertEqual(running.returncode, 130, told)
            self.assertIn("--resume", told)
            self.assertEqual((self.trajectory()["exit_reason"], len(self.trajectory()["trajectory_steps"])), ("interrupted", 1))
            self.agent(server, "--resume")
        self.assertEqual(self.trajectory()["exit_reason"], "agent")

    def test_a_run_that_is_done_asks_nothing_again(self):
        with ScriptedServer(QUICK) as server:
            self.agent(server)
            asked = len(server.requests)
            self.assertIn("--resume", self.agent(server, code=3).stderr)
            self.agent(server, "--resume", "-k", 2)
            self.assertEqual(len(server.requests), 2 * asked)
            self.assertIn("was begun with", self.agent(server, "--resume", "--temperature", "0.5", code=3).stderr)


if __name__ == "__main__":
    unittest.main()
