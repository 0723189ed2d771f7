"""Files of samples and runs that others wrote: links are not followed, what is no regular file is not waited for, bytes are read once."""

import ctypes
import json
import os
import resource
import select
import shutil
import threading
import unittest

from passnet_case import KERNEL, PASS, QUICK, RIGHT_BODY, PassnetCase, kernel, take_one_processor

take_one_processor()

SECRET = "root:CANARY:1\nCANARY second line\n"
LINK = "found a link, expected a regular file"
PASS_LIST = "sorted_output_pass_rule_names.json"


def little_memory():
    """Fewer bytes than a file without end has. PyTorch's libraries alone take some."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


class UntrustedFiles(PassnetCase):
    timing = QUICK

    def setUp(self):
        super().setUp()
        self.secret = self.root / "secret"
        self.secret.write_text(SECRET)
        self.passes = self.sample / "pass_dir"
        self.graph = self.sample / "graphs" / "small"

    def link(self, place, to=None):
        """A link in the file's or directory's place."""
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        place.symlink_to(to or self.secret)

    def assert_no_secret(self, *texts):
        kept = [path.read_bytes() for path in self.out.rglob("*") if path.is_file() and not path.is_symlink()] if self.out.exists() else []
        for text in (*texts, *kept):
            self.assertNotIn(b"CANARY", text if isinstance(text, bytes) else text.encode())


class Links(UntrustedFiles):
    def refused(self):
        """What is said of a sample that is not evaluated."""
        done = self.evaluate()
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assert_no_secret(done.stdout, done.stderr)
        return done.stderr

    def test_files_and_the_directory_of_passes(self):
        places = ("pass_dir/add_relu.cpp", "pass_dir/add_relu.py", "pass_dir/shared.py", f"pass_dir/{PASS_LIST}", "pass_dir",
                  "graphs/small/model.py", "graphs/small/weight_meta.py", "graphs/small/input_meta.py")
        samples = {}
        for place in places:
            source = "from pass_dir.shared import f\n" + PASS if place.endswith("shared.py") else PASS
            samples[place] = self.add_sample(place.replace("/", "_of_"), source)
            self.link(samples[place] / place, self.passes if place == "pass_dir" else None)
        found = self.evaluate_samples(samples.values(), code=(3,))
        self.assert_no_secret()
        for place, sample in samples.items():
            with self.subTest(place):
                name = "" if place == "pass_dir" else place.rpartition("/")[2] + ": error: "
                self.assertIn(f"{name}{LINK}", found[sample.name]["error"])
        kernel_of = samples["pass_dir/add_relu.cpp"]
        self.assertIn(f"hint: below '{kernel_of}' no link is followed: put there what it points to", found[kernel_of.name]["error"])
        self.assertFalse((self.out / kernel_of.name / "passes" / "add_relu.cpp").exists())

    def test_the_list_of_graphs(self):
        self.link(self.sample / "graph_list.txt")
        self.assertIn(f"graph_list.txt: error: {LINK}", self.refused())
        for command in (("pass", "check"), ("pass", "build")):
            done = self.passnet(*command, self.sample)
            self.assertEqual(done.returncode, 3)
            self.assert_no_secret(done.stdout, done.stderr)

    def test_directories_of_graphs(self):
        for place in ("graphs", "graphs/small"):
            with self.subTest(place):
                self.write_sample(["small"])
                elsewhere = self.root / place.replace("/", "_of_")
                shutil.copytree(self.sample / place, elsewhere)
                self.link(self.sample / place, elsewhere)
                self.assertIn("graph_list.txt:1:1: error: graph 'small' is reached through a link", self.refused())
                (self.sample / place).unlink()

    def test_a_graph_elsewhere(self):
        shutil.copytree(self.graph, self.root / "other")
        for line in (str(self.root / "other"), "../other", "graphs/../../other"):
            (self.sample / "graph_list.txt").write_text(f"{line}\n")
            self.assertIn(f"graph_list.txt:1:1: error: graph '{line}' lies elsewhere", self.refused())

    def test_given_passes(self):
        given = self.root / "given"
        shutil.copytree(self.passes, given)
        (given / PASS_LIST).rename(given / "sorted_input_pass_rule_names.json")
        shutil.rmtree(self.passes)
        self.link(given / "add_relu.cpp")
        done = self.evaluate("--input-pass-dir", given)
        self.assertIn(f"add_relu.cpp: error: {LINK}", self.records()[0]["error"])
        self.assert_no_secret(done.stdout, done.stderr)

    def test_the_path_to_the_sample_may_go_through_links(self):
        (self.root / "home").symlink_to(self.root)
        (self.root / "home" / "linked").symlink_to(self.sample)
        done = self.evaluate(sample=self.root / "home" / "linked")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_run_that_is_read_back(self):
        self.assertEqual(self.evaluate().returncode, 0)
        for name in ("sample/records.jsonl", "run.jsonl", "sample/aggregated_score.json"):
            with self.subTest(name):
                kept = (self.out / name).read_bytes()
                self.link(self.out / name)
                for command in ("verify", "score"):
                    done = self.passnet(command, self.out)
                    self.assertNotIn("CANARY", done.stdout + done.stderr)
                (self.out / name).unlink()
                (self.out / name).write_bytes(kept)
        self.link(self.out / "sample" / "passes" / "add_relu.cpp")
        self.link(self.out / "sample" / "graphs" / "small" / "after.py")
        done = self.evaluate("--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("CANARY", (self.out / "report.html").read_text())


class SpecialFiles(UntrustedFiles):
    def put(self, kind, place):
        place.unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(place)
        elif kind == "sparse":
            place.write_bytes(b"")
            os.truncate(place, 1 << 40)
        elif kind == "device":
            place.symlink_to("/dev/zero")
        else:
            place.symlink_to(place.name)

    EXPECTED = {"pipe": "found a pipe", "sparse": "the file is too large: found 1099511627776 bytes", "device": "found a link",
                "loop": "found a link"}

    def check(self, *samples, code):
        done = self.passnet("pass", "check", "--json", *samples, preexec_fn=little_memory)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_files_of_a_sample(self):
        places = [place.relative_to(self.sample) for place in (
            self.passes / "add_relu.cpp", self.passes / "add_relu.py", self.passes / PASS_LIST,
            self.graph / "model.py", self.graph / "weight_meta.py", self.graph / "input_meta.py")]
        samples = {}
        for place in places:
            for kind in self.EXPECTED:
                samples[place, kind] = self.add_sample(f"{kind}_{place.name}")
                self.put(kind, samples[place, kind] / place)
        graphs = json.loads(self.check(*samples.values(), code=3).stdout)["graphs"]
        found = {graph["sample"]: graph["problem"] for graph in graphs}
        for (place, kind), sample in samples.items():
            with self.subTest(place=place.name, kind=kind):
                self.assertTrue(found[sample.name].startswith(f"{sample / place}: error: {self.EXPECTED[kind]}"), found[sample.name])

    def test_the_list_of_graphs(self):
        for kind, message in self.EXPECTED.items():
            with self.subTest(kind=kind):
                self.put(kind, self.sample / "graph_list.txt")
                self.assertIn(f"graph_list.txt: error: {message}", self.check(self.sample, code=3).stderr)

    def test_files_of_a_run(self):
        self.assertEqual(self.evaluate().returncode, 0)
        for name in ("sample/records.jsonl", "run.jsonl", "sample/aggregated_score.json"):
            for kind in ("pipe", "sparse", "device", "loop"):
                with self.subTest(name=name, kind=kind):
                    kept = (self.out / name).read_bytes()
                    self.put(kind, self.out / name)
                    done = self.passnet("verify", self.out, preexec_fn=little_memory)
                    self.assertIn(done.returncode, (1, 3), done.stdout + done.stderr)
                    self.assertNotIn("bug in passnet", done.stderr)
                    (self.out / name).unlink()
                    (self.out / name).write_bytes(kept)

    def test_descriptions_of_a_graph(self):
        (self.graph / "graph_net.json").unlink(missing_ok=True)
        os.mkfifo(self.graph / "graph_net.json")
        self.assertEqual(self.passnet("dataset", "show", self.graph).returncode, 0)
        self.assertEqual(self.passnet("graph", "check", self.graph).returncode, 3)


class OpenWatch(threading.Thread):
    """Puts another file in a file's place each time it has been read, as somebody may who can write to the sample."""

    IN_CLOSE_NOWRITE = 0x10

    def __init__(self, path, texts):
        super().__init__(daemon=True)
        self.path, self.texts, self.opened, self.ends = path, texts, 0, False
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.watch = self.libc.inotify_init1(os.O_CLOEXEC)
        self.libc.inotify_add_watch(self.watch, str(path.parent).encode(), self.IN_CLOSE_NOWRITE)

    def run(self):
        while not self.ends:
            if not select.select([self.watch], [], [], 0.05)[0]:
                continue
            data = os.read(self.watch, 65536)
            while data:
                mask, length = int.from_bytes(data[4:8], "little"), int.from_bytes(data[12:16], "little")
                name = data[16 : 16 + length].rstrip(b"\0").decode()
                data = data[16 + length :]
                if name == self.path.name and mask & self.IN_CLOSE_NOWRITE:
                    self.opened += 1
                    new = self.path.with_name("." + self.path.name)
                    new.write_text(self.texts[self.opened % len(self.texts)])
                    new.rename(self.path)

    def stop(self):
        self.ends = True
        self.join()
        os.close(self.watch)


class ReadOnce(UntrustedFiles):
    WRONG = kernel("out[i] = x[i] + y[i];")

    def evaluate_while_swapping(self, texts_of):
        """Evaluates while each of these files changes between its texts as it is read. How often each was read, and the record."""
        watches = []
        for path, texts in texts_of.items():
            path.write_text(texts[0])
            watches.append(OpenWatch(path, texts))
            watches[-1].start()
        done = self.evaluate()
        for watch in watches:
            watch.stop()
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return [watch.opened for watch in watches], self.records()[0]

    def test_what_is_recorded_stored_and_judged_is_one_text(self):
        right = KERNEL % RIGHT_BODY
        for texts, code in (((right, self.WRONG), "correct"), ((self.WRONG, right), "incorrect")):
            with self.subTest(code):
                opened, record = self.evaluate_while_swapping({self.passes / "add_relu.cpp": texts})
                self.assertEqual(opened, [1])
                stored = (self.out / "sample" / "passes" / "add_relu.cpp").read_text()
                self.assertEqual(stored, texts[0])
                done = self.passnet("verify", "--json", self.out)
                self.assertEqual(json.loads(done.stdout)["samples"][0]["problems"], [], done.stdout)
                passes_from = record["outputs"][0]["passes_from"]
                self.assertEqual(passes_from <= -5, code == "correct", record["outputs"])

    def test_verify_compares_what_is_stored(self):
        self.write_pass("from pass_dir.shared import unused\n" + PASS)
        (self.passes / "shared.py").write_text("unused = 1\n")
        self.assertEqual(self.evaluate().returncode, 0)
        stored = self.out / "sample" / "passes"
        self.assertEqual({file.name for file in stored.iterdir()}, {"add_relu.py", "add_relu.cpp", "shared.py"})
        self.assertEqual(self.passnet("verify", self.out).returncode, 0)
        for name in ("passes/add_relu.py", "passes/add_relu.cpp", "passes/shared.py", "passes/new.py", "graphs/small/after.py",
                     "graphs/small/launches.json"):
            with self.subTest(name):
                file = self.out / "sample" / name
                kept = file.read_text() if file.exists() else None
                file.write_text("# another\n")
                done = self.passnet("verify", self.out)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(f"{name} is not the text that was evaluated", done.stdout)
                file.unlink() if kept is None else file.write_text(kept)
        self.assertEqual(self.passnet("verify", self.out).returncode, 0)

    def test_each_file_of_a_sample_is_opened_once(self):
        places = (self.passes / "add_relu.py", self.passes / PASS_LIST, self.graph / "model.py", self.graph / "weight_meta.py")
        opened, record = self.evaluate_while_swapping({place: (place.read_text(), "nonsense") for place in places})
        self.assertEqual(dict(zip([place.name for place in places], opened)), {place.name: 1 for place in places})
        self.assertEqual((record["stage"], record["error"]), ("done", ""))


if __name__ == "__main__":
    unittest.main()
