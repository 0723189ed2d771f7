"""The journal keeps every model through kills, and tells what became of them."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["PASSNET_SOURCE_DIR"]) / "python"))
from passnet_capture.journal import Busy, Damaged, Entry, Journal, read_entries, summary


class JournalTest(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.directory = pathlib.Path(self.holder.name)
        self.path = self.directory / "journal.jsonl"

    def write(self, *entries):
        journal = Journal(self.directory)
        for entry in entries:
            journal.append(entry)
        journal.close()

    def test_entries_come_back_and_the_last_of_a_model_counts(self):
        good = Entry("m", "timm", status="captured", graphs=["timm/m/b1"], seconds=1.5, licence="mit")
        self.write(Entry("m", "timm", cause="timeout", message="late"), good, Entry("m", "torchvision", cause="trace"))
        entries, end = read_entries(self.path)
        self.assertEqual(entries["timm", "m"], good)
        self.assertEqual(entries["torchvision", "m"].cause, "trace")
        self.assertEqual(end, self.path.stat().st_size)

    def test_torn_last_line_is_cut_off(self):
        self.write(Entry("a", "timm", status="captured"))
        whole = self.path.read_bytes()
        for torn in (b'{"model": "b", "sour', b'{"model": "b", "sour\n', b"\x00\x00\n", b"7\n"):
            self.path.write_bytes(whole + torn)
            self.write(Entry("c", "timm", status="captured"))
            self.assertEqual([name for _, name in read_entries(self.path)[0]], ["a", "c"])
            self.path.write_bytes(whole)

    def test_damaged_line_in_the_middle_is_not_cut_off(self):
        self.write(Entry("a", "timm"))
        whole = self.path.read_bytes()
        self.path.write_bytes(b"nonsense\n" + whole)
        with self.assertRaises(Damaged) as caught:
            Journal(self.directory)
        self.assertEqual(str(caught.exception), f"{self.path}:1: error: found 'nonsense', expected a line of JSON that tells of a model\n"
                         "hint: remove the line, or give another --out")  # fmt: skip
        self.assertEqual(self.path.read_bytes(), b"nonsense\n" + whole)

    def test_second_holder_is_refused(self):
        first = Journal(self.directory)
        with self.assertRaisesRegex(Busy, f"^{self.directory}: error: found another capture that writes there, expected none\nhint: "):
            Journal(self.directory)
        first.close()
        Journal(self.directory).close()

    def test_summary_has_a_line_per_cause(self):
        entries = [Entry("a", "timm", status="captured", graphs=["x", "y"]), Entry("b", "timm", cause="timeout"),
                   Entry("c", "timm", cause="timeout"), Entry("d", "timm", cause="inputs")]  # fmt: skip
        self.assertEqual(summary(entries), "captured: 1 of 4 models, 2 graphs\n"
                         "inputs: 1 (no arguments were found that the model runs with)\n"
                         "timeout: 2 (the time limit passed)")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
