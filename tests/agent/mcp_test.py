"""`passnet mcp` with the official Python client of the protocol: a pass is written, matched and evaluated, over both transports."""

import asyncio
import contextlib
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "eval"))
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from passnet_case import BINARY, KERNEL, PASS, RIGHT_BODY, PassnetCase, kernel, take_one_processor

take_one_processor()
FILES = {"add_relu.py": PASS, "add_relu.cpp": KERNEL % RIGHT_BODY, "sorted_output_pass_rule_names.json": '["add_relu"]'}


class Mcp(PassnetCase):
    def arguments(self, *more):
        return ["mcp", str(self.sample), "-o", str(self.out), *more]

    def over_stdio(self, talk):
        async def run():
            server = StdioServerParameters(command=str(BINARY), args=self.arguments(), env=dict(os.environ))
            async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as session:
                await session.initialize()
                await talk(session)

        asyncio.run(asyncio.wait_for(run(), 240))

    async def write_files(self, session):
        for name, text in FILES.items():
            written = await session.call_tool("file_editor", {"command": "create", "path": f"pass_dir/{name}", "file_text": text})
            self.assertFalse(written.is_error, written.content)

    def test_a_client_writes_and_evaluates_a_pass(self):
        async def talk(session):
            self.assertEqual([tool.name for tool in (await session.list_tools()).tools],
                             ["file_editor", "pass_match", "pass_evaluator", "pass_explain", "graph_info", "submit"])
            await self.write_files(session)
            matched = await session.call_tool("pass_match", {})
            self.assertIn("1 sites in 1 of 1 graphs", matched.content[0].text)
            evaluated = await session.call_tool("pass_evaluator", {})
            self.assertEqual(evaluated.structured_content["graphs"][0]["graph"], "small")
            self.assertEqual(evaluated.structured_content["graphs"][0]["sites"], 1)
            submitted = await session.call_tool("submit", {})
            self.assertIn("Measured again in fresh processes.", submitted.content[0].text)

        self.over_stdio(talk)
        self.assertEqual((self.out / "sample" / "workspace" / "pass_dir" / "add_relu.py").read_text(), PASS)

    def test_a_client_reads_what_there_is(self):
        async def talk(session):
            uris = [str(resource.uri) for resource in (await session.list_resources()).resources]
            self.assertIn("passnet://tasks/sample", uris)
            card = (await session.read_resource("passnet://tasks/sample")).contents[0].text
            self.assertIn(str(self.out / "sample" / "workspace" / "pass_dir"), card)
            for page, word in (("passes", "replacement_func"), ("plan-language", "torch.empty_like"), ("kernels", "for_blocks")):
                text = (await session.read_resource(f"passnet://docs/{page}.md")).contents[0].text
                self.assertIn(word, text)
            prompt = await session.get_prompt("write_pass", {})
            self.assertIn("def forward(self, in_0, in_1)", prompt.messages[0].content.text)

        self.over_stdio(talk)

    def test_what_a_client_does_wrong_is_told(self):
        async def talk(session):
            outside = await session.call_tool("file_editor", {"command": "view", "path": "../../../etc/passwd"})
            self.assertTrue(outside.is_error)
            other = await session.call_tool("pass_match", {"task": "other"})
            self.assertTrue(other.is_error)
            self.assertIn("no task 'other'", other.content[0].text)

        self.over_stdio(talk)

    def test_serves_over_http_too(self):
        process = subprocess.Popen([str(BINARY), *self.arguments("--listen", "0")], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        url = process.stdout.readline().split(" at ")[1].split()[0]

        async def run():
            async with streamable_http_client(url) as streams, ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                await self.write_files(session)
                matched = await session.call_tool("pass_match", {})
                self.assertIn("1 sites in 1 of 1 graphs", matched.content[0].text)

        asyncio.run(asyncio.wait_for(run(), 120))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 0)

    def test_a_call_is_cancelled_while_it_waits_and_while_it_runs(self):
        locks = self.root / "lock"
        locks.mkdir()
        process = subprocess.Popen([str(BINARY), *self.arguments("--timeout", "100")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   text=True, env={**os.environ, "PASSNET_LOCK_DIR": str(locks)})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)

        def say(method, parameters, **more):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": parameters, **more}) + "\n")
            process.stdin.flush()

        def hear():
            return json.loads(process.stdout.readline())

        endless = kernel("for (volatile int again = 1; again;) {} out[i] = 0;")
        for number, (name, text) in enumerate({**FILES, "add_relu.cpp": endless}.items()):
            say("tools/call", {"name": "file_editor", "arguments": json.dumps({"command": "create", "path": f"pass_dir/{name}", "file_text": text})}, id=number)
            self.assertEqual((hear()["id"]), number)

        def cancel_after(notifications, number):
            say("tools/call", {"name": "pass_evaluator", "arguments": {}, "_meta": {"progressToken": number}}, id=number)
            for _ in range(notifications):
                self.assertEqual(hear()["params"]["progressToken"], number)
            say("notifications/cancelled", {"requestId": number})
            say("tools/call", {"name": "graph_info", "arguments": {}}, id="next")
            while "id" not in (answer := hear()):
                pass
            self.assertEqual(answer["id"], "next")

        with contextlib.ExitStack() as held:
            for processor in os.sched_getaffinity(0):
                fcntl.flock(held.enter_context((locks / f"passnet-processor-{processor}").open("w")), fcntl.LOCK_EX)
            cancel_after(1, 10)
        cancel_after(2, 11)
        process.stdin.close()
        self.assertEqual(process.wait(60), 0)

    def test_other_lines_do_no_harm(self):
        lines = ["", "{", '{"jsonrpc": "2.0", "id": 1, "method": "ping"}', '{"jsonrpc": "2.0", "method": "notifications/x"}']
        done = subprocess.run([str(BINARY), *self.arguments()], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer.get("error", {}).get("code") for answer in answers], [-32700, None])


if __name__ == "__main__":
    unittest.main(verbosity=2)
