"""Graphs that reach for files and memory: refused at their line by every command that reads one, and nothing is touched."""

import json
import os
import unittest

from passnet_case import MODEL, QUICK, PassnetCase, take_one_processor

take_one_processor()

REASON = "is not run: it opens a file by name (files)"


class HostileGraph(PassnetCase):
    def setUp(self):
        super().setUp()
        self.graph = self.sample / "graphs" / "small"
        self.victim = self.root / "victim"
        self.victim.write_text("what the user wrote")

    def write_call(self, call):
        """The graph also makes this call, of a file of the user's."""
        text = MODEL.replace("        tmp_1 =", f"        tmp_2 = {call}\n        tmp_1 =").replace("(tmp_1,)", "(tmp_1, tmp_2,)")
        (self.graph / "model.py").write_text(text)

    def check_refused(self, done):
        told = " ".join((done.stdout + done.stderr).split())  # tables wrap long lines
        self.assertIn(REASON, told)
        self.assertIn("model.py:7:17: error: ", told)
        self.assertEqual(self.victim.read_text(), "what the user wrote")

    def test_a_file_is_neither_written_nor_read_by_any_command(self):
        for call in (f'torch.ops.aten.from_file("{self.victim}", True, 9, dtype=torch.uint8)',
                     f'torch.from_file("{self.victim}", shared=False, size=9, dtype=torch.uint8)'):
            self.write_call(call)
            for command in (("run", self.graph), ("graph", "show", self.graph), ("graph", "show", "--shapes", self.graph),
                            ("graph", "check", self.graph), ("pass", "check", "-q", self.sample)):
                with self.subTest(call=call, command=command):
                    done = self.passnet(*command)
                    self.assertNotEqual(done.returncode, 0)
                    self.check_refused(done)

    def test_no_file_is_made(self):
        made = self.root / "made"
        self.write_call(f'torch.from_file("{made}", shared=True, size=100000, dtype=torch.uint8)')
        record = self.only_record()
        self.assertEqual((record["stage"], record["error_kind"]), ("parse", "unsupported"))
        self.assertIn(REASON, record["error"])
        self.assertFalse(made.exists())

    def test_the_jail_holds_what_the_list_would_let_through(self):
        done = self.passnet("selftest", "--json", "--without", "operator-list", "--filter", "hostile_file_write", "hostile_file_read",
                            env={**os.environ, "PASSNET_HOME": str(self.root / "home")})
        found = json.loads(done.stdout)["bundles"]
        self.assertGreater(len(found), 3)
        for bundle in found:
            self.assertEqual((bundle["bundle"], bundle["result"]), (bundle["bundle"], "ok"), bundle)
            self.assertIn("Operation not permitted", bundle["found"]["reason"])

    def test_strides_beyond_the_storage_are_refused(self):
        self.write_call("torch.as_strided(in_0, (1000000,), (1,))")
        record = self.only_record()
        self.assertEqual(record["stage"], "reference")
        self.assertIn("out of bounds", record["error"])
        self.write_call("torch.ops.aten._reshape_alias(in_0, (1000000,), (1,))")
        self.assertIn("(strides)", self.only_record()["error"])

    def test_a_run_in_pytorch_sees_no_file_either(self):
        self.write_call(f'torch.from_file("{self.victim}", size=9, dtype=torch.uint8)')
        done = self.evaluate("--sides", "eager", *QUICK)
        self.assertEqual(done.returncode, 1)
        self.check_refused(done)


if __name__ == "__main__":
    unittest.main()
