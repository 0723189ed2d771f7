"""What holds for every command: options, help, exit codes, misspelt words, readers that leave, colors, versions."""

import os
import pathlib
import re
import resource
import shutil
import subprocess
import unittest

from command_tree import groups, help_of, leaves, options_of, subcommands
from passnet_case import BINARY, PASS, QUICK, PassnetCase, take_one_processor
from recorded_run import settle

take_one_processor()

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
SAMPLE = SOURCE / "samples" / "vit_add_layer_norm"


def told(done):
    """Lines on stderr, but for that another evaluation on this machine holds the processors for a while."""
    return [line for line in done.stderr.splitlines() if not line.startswith("waiting: ")]


class Help(unittest.TestCase):
    def test_every_command_is_found(self):
        self.assertGreaterEqual(len(leaves()), 24)
        self.assertIn("dataset capture", leaves())

    def test_short_help_and_exit_codes_everywhere(self):
        for command in [*groups(), *leaves()]:
            with self.subTest(command=command):
                short = subprocess.run([BINARY, *command.split(), "-h"], capture_output=True, text=True, timeout=120)
                self.assertEqual((short.returncode, short.stdout), (0, help_of(command)))
                self.assertRegex(help_of(command), r"Exit codes: 0 done")
                self.assertIn("130 interrupted", help_of(command))

    def test_one_wording_of_json_in_every_command(self):
        for command in leaves():
            with self.subTest(command=command):
                self.assertRegex(options_of(command).get("--json", ""), r"^--json( (?:Excludes|Needs): --\w+)? print JSON on stdout \(docs/json.md\)$")

    def test_options_have_short_names(self):
        for command in leaves():
            for name, short in (("--out", "-o"), ("--jobs", "-j"), ("--quiet", "-q"), ("--help", "-h")):
                with self.subTest(command=command, option=name):
                    if name in options_of(command):
                        self.assertRegex(options_of(command)[name], rf"{short}\b")
                    else:
                        self.assertIn(name, ("--out", "--jobs"))

    def test_commands_that_go_on_take_resume_and_say_what_it_does(self):
        goes_on = r"--resume continue in --out; this is the default of this command$"
        for name in ("build", "decompose", "dedup", "generalize", "samples"):
            with self.subTest(command=name):
                options = options_of(f"dataset {name}")
                self.assertRegex(options["--resume"], goes_on)
                self.assertIn("REQUIRED", options["--out"])
                self.assertTrue({"--jobs", "--json"} <= options.keys())
        self.assertIn("--resume", options_of("eval"))

    def test_options_are_few(self):
        names = set().union(*map(options_of, leaves()))
        self.assertLessEqual(len(names), 127, sorted(names))

    def test_same_defaults_for_same_options(self):
        for name, default in (("--jobs", "1"), ("--seed", "1024"), ("--timeout", "120")):
            found = [command for command in leaves() if name in options_of(command)]
            if name == "--seed":
                for command in ("eval", "leaderboard score", "selftest"):
                    found.remove(command)
                    self.assertRegex(options_of(command)[name], "default: a new one for each run")
            self.assertGreater(len(found), 1, name)
            for command in found:
                with self.subTest(command=command, option=name):
                    # Nobody times what this one makes, and all of it is wanted at once.
                    all_at_once = (command, name) == ("dataset official", "--jobs")
                    wanted = "one per processor" if all_at_once else default
                    self.assertRegex(options_of(command)[name], rf"(INT|UINT|FLOAT)\S*={wanted}\b")

    def test_capture_says_what_a_function_of_a_file_returns(self):
        self.assertIn("FILE.py:function is a function of yours without arguments. It returns (model, kwargs)", help_of("dataset capture"))


class Programs(PassnetCase):
    """`passnet` without the programs beside it that run some of its commands."""

    def lonely(self, *arguments):
        alone = self.root / "passnet"
        if not alone.exists():
            shutil.copy(BINARY, alone)
        done = subprocess.run([alone, *arguments], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr.replace(str(self.root), "")

    def test_a_command_whose_program_was_not_built_says_how_to_build_it(self):
        for words, program in ((("author", "x"), "author"), (("pass", "new", "x"), "author"), (("graph", "cut", "--help"), "dataset"),
                               (("dataset",), "dataset"), (("mcp", "--jobs=2"), "agent"), (("-q", "selftest"), "selftest")):
            with self.subTest(command=words):
                self.assertEqual(self.lonely(*words), (4, "", f"error: 'passnet-{program}' was not built: '/passnet-{program}' is missing\n"
                                                               "hint: run 'make build'; it builds every command\n"))

    def test_the_help_lists_all_commands(self):
        self.assertEqual(self.lonely("--help"), (0, help_of(""), ""))

    def test_other_programs_take_the_command_line_as_it_stands(self):
        done = subprocess.run([BINARY.with_name("passnet-dataset"), "dataset", "find", "--help"], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, help_of("dataset find")))


class Usage(PassnetCase):
    def refusal(self, *arguments):
        done = self.passnet(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr

    def test_misspelt_commands(self):
        self.assertEqual(self.refusal("evl", "x"), "passnet: error: unknown command 'evl'\nhint: did you mean 'passnet eval'?\n")
        self.assertEqual(self.refusal("scroe"), "passnet: error: unknown command 'scroe'\nhint: did you mean 'passnet score'?\n")
        self.assertEqual(self.refusal("graph", "chek", "x"),
                         "passnet graph: error: unknown command 'chek'\nhint: did you mean 'passnet graph check'?\n")
        self.assertIn("hint: did you mean 'passnet graph check' or 'passnet pass check'?", self.refusal("check", "x"))
        self.assertIn("hint: commands: eval, compare, ", self.refusal("zzzzzzzz"))
        self.assertIn("passnet graph: error: which command?\nhint: commands: check, ", self.refusal("graph"))

    def test_subcommands_of_other_programs_are_known(self):
        for group in ("leaderboard", "agent", "dataset"):
            for name in set(subcommands(group)) - set(subcommands()):
                with self.subTest(group=group, command=name):
                    self.assertIn(f"'passnet {group} {name}'", self.refusal(name, "x"))

    def test_misspelt_options(self):
        self.assertEqual(self.refusal("eval", "x", "--trails", 3),
                         "passnet eval: error: unknown option '--trails'\nhint: did you mean '--trials'?\n")
        self.assertIn("did you mean '--jobs'?", self.refusal("dataset", "index", "x", "--job=2"))
        self.assertIn("'passnet doctor --help' lists its options", self.refusal("doctor", "--frobnicate"))

    def test_options_of_earlier_versions_are_taken_as_what_they_are_now(self):
        for arguments, notes in (
                (("eval", "/none", "--compiler", "eager"), "note: --compiler is now --sides CANDIDATE, such as --sides eager\n"),
                (("eval", "--no-wait", "/none", "--strict"), "note: --no-wait is now --wait 0\nnote: --strict is now --matching strict\n"),
                (("eval", "/none", "--baseline=python"), "note: --baseline is now --sides CANDIDATE,BASELINE, such as --sides passes,python\n"),
                (("author", "/none", "-o", "/none/x", "--budget", 20), "note: --budget is now --time-limit\n"),
                (("agent", "run", "/none", "--llm_name", "m", "--max_steps=3", "-o", "/none/x"),
                 "note: --llm_name is now --model NAME, with --api\nnote: --max_steps is now --max-steps\n"),
                (("reward", "/none", "--host", "127.0.0.1", "--port", 0),
                 "note: --host is now --listen HOST:PORT\nnote: --port is now --listen HOST:PORT\n")):
            with self.subTest(arguments=arguments):
                done = self.passnet(*arguments)
                self.assertEqual((done.returncode, done.stderr[:len(notes)]), (3, notes), done.stderr)

    def test_options_of_earlier_versions_that_cannot_be_renamed_are_refused_with_what_replaces_them(self):
        for arguments, now in ((("agent", "run", "x", "--model", "m", "--slice", "1:3"), "--limit, or a list of samples as a PATH"),
                               (("compare", "x", "y", "--csv"), "--json"), (("eval", "x", "--compiler"), "--sides CANDIDATE, such as --sides eager")):
            with self.subTest(arguments=arguments):
                self.assertIn(f"hint: it is now {now}\n", self.refusal(*arguments))

    def test_a_misspelt_option_is_told_before_what_is_missing_for_it(self):
        self.assertIn("did you mean '--out'?", self.refusal("dataset", "samples", "x", "--ot", "y"))

    def test_what_is_missing_or_too_much(self):
        self.assertIn("passnet eval: error: PATH is required\n", self.refusal("eval"))
        self.assertIn("passnet doctor: error: unexpected argument 'now'\n", self.refusal("doctor", "now"))

    def test_values_say_what_was_expected_and_found(self):
        for arguments, message in (
                (("eval", "x", "--trials", "abc"), "--trials: expected an integer 1..1000000, found 'abc'"),
                (("eval", "x", "--trials", "0"), "--trials: expected an integer 1..1000000, found '0'"),
                (("eval", "x", "--trials", "3.5"), "--trials: expected an integer 1..1000000, found '3.5'"),
                (("run", "x", "--seed", "-1"), "--seed: expected an integer 0..4294967295, found '-1'"),
                (("run", "x", "--timeout", "soon"), "--timeout: expected a number 0.1..86400, found 'soon'"),
                (("eval", "x", "--sides", "egaer"), "--sides: expected passes, eager, inductor, aotinductor as candidate, found 'egaer'"),
                (("eval", "x", "--sides", "passes,inductor"), "--sides: expected eager, python as baseline, found 'inductor'"),
                (("eval", "x", "--sides", "passes,eager,python"), "--sides: expected inductor as second candidate, found 'python'"),
                (("eval", "x", "--sides", "a,b,c,d"), "--sides: expected CANDIDATE,BASELINE,SECOND at most, found 4 sides"),
                (("reward", "x", "--listen", "here"), "--listen: expected HOST:PORT or PORT, found 'here'"),
                (("eval", "x", "--color", "blue"), "--color: expected auto, always, never, found 'blue'")):
            with self.subTest(arguments=arguments):
                self.assertIn(f"error: {message}\n", self.refusal(*arguments))

    def test_values_that_do_not_fit_the_others(self):
        agent = ("agent", "run", self.sample, "--model", "m", "--out", self.out)
        for arguments, message in (
                (("eval", self.sample, "--host-code", "python", "--sides", "inductor"), "host code in Python with --sides inductor, expected passes"),
                (("eval", self.sample, "--jobs", "3"), "--jobs 3 on the CPU, expected a GPU for each job"),
                (("eval", self.sample, "--overlap", "3"), "--overlap 3 on the CPU, expected a GPU to share"),
                (("eval", self.sample, "--config", '{"nope": 1}'), "--config: unknown key 'nope'"),
                (("eval", self.sample, "--config", "x!"), "--config: found 'x!', expected JSON or JSON in base64"),
                (("agent", "run", self.sample, "--out", self.out), "--model is required"),
                (("agent", "run", "--model", "m", "--out", self.out), "PATH is required"),
                ((*agent, "--cost-limit", "1"), "--cost-limit without --price-file, expected both"),
                (("pass", "new", "n", self.root / "d", "--from", self.sample, "--range", "x"), "--range 'x': expected FIRST:END, two numbers"),
                (("dataset", "decompose", self.sample, "--out", self.out, "--kind", "foo"), "--kind: found 'foo', expected sole_op, fusible or typical"),
                (("dataset", "samples", self.root, "--out", self.out, "--dtype", "foo"), "--dtype: found 'foo', expected floating types")):
            with self.subTest(arguments=arguments):
                self.assertIn(f"error: {message}", self.refusal(*arguments))

    def test_paths_that_lead_nowhere_have_one_exit_code(self):
        graph = self.sample / "graphs" / "small"
        for path in (self.root / "absent", self.root / "absent" / "deeper", graph / "model.py" / "x", "x" * 300):
            for arguments in (("eval", path), ("score", path), ("compare", path, path), ("verify", path), ("reproduce", path), ("run", path),
                              ("graph", "show", path), ("graph", "dot", path), ("pass", "match", path, graph), ("pass", "check", path),
                              ("dataset", "find", path), ("agent", "table", path), ("leaderboard", "agree", path, path)):
                with self.subTest(arguments=arguments):
                    done = self.passnet(*arguments)
                    self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)

    def test_a_limit_of_file_sizes_is_an_error(self):
        done = self.passnet("pass", "new", "n", self.root / "d", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
        self.assertIn("File too large", done.stderr)

    def test_version_tells_commit_and_pytorch(self):
        done = self.passnet("--version")
        self.assertRegex(done.stdout, r"^passnet \d+\.\d+\.\d+ \(commit ([0-9a-f]{12}|unknown), PyTorch (\d+\.\d+\.\d+|none)\)\n$")
        found = self.passnet("doctor").stdout
        torch = re.search(r"with PyTorch (\d+\.\d+\.\d+)", found)
        if torch:
            self.assertIn(f"PyTorch {torch.group(1)})", done.stdout)
        head = subprocess.run(["git", "-C", SOURCE, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
        if head.returncode == 0:
            self.assertNotIn("unknown", done.stdout)


class ReadersThatLeave(PassnetCase):
    COMMANDS = (("--help",), ("graph", "show", SAMPLE / "graphs" / "b1_float32"), ("graph", "check", SOURCE / "samples"),
                ("graph", "stats", SOURCE / "samples"), ("graph", "hash", "--json", SOURCE / "samples"), ("doctor",),
                ("pass", "match", SAMPLE, SAMPLE / "graphs"), ("pass", "check", SAMPLE / "pass_dir"))

    def with_closed_reader(self, *arguments):
        """Runs passnet with a pipe for stdout that nobody reads."""
        reader, writer = os.pipe()
        os.close(reader)
        try:
            return subprocess.run([BINARY, *map(str, arguments)], stdout=writer, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                  text=True, timeout=240)
        finally:
            os.close(writer)

    def test_commands_end_without_a_word(self):
        for command in self.COMMANDS:
            with self.subTest(command=command):
                done = self.with_closed_reader(*command)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_more_than_a_pipe_holds_ends_it_too(self):
        done = subprocess.run(["bash", "-c", 'set -o pipefail; for i in {1..400}; do graphs+=("$1"); done; "$0" pass match "$2" "${graphs[@]}" | head -n 1; echo "${PIPESTATUS[0]}"',
                               BINARY, SAMPLE / "graphs" / "b1_float32", SAMPLE], capture_output=True, text=True, timeout=240)
        self.assertEqual((done.stdout.splitlines()[-1], done.stderr), ("0", ""))

    def test_score_and_find_and_eval_keep_their_code(self):
        done = self.evaluate("--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        scored = self.with_closed_reader("score", self.out)
        self.assertEqual((scored.returncode, scored.stderr), (0, ""))
        indexed = self.passnet("dataset", "index", self.sample, "-q")
        self.assertEqual(indexed.returncode, 0, indexed.stderr)
        found = self.with_closed_reader("dataset", "find", self.sample)
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        self.write_pass(source=PASS.replace("x + y", "x - y"))
        again = self.with_closed_reader("eval", self.sample, "--out", self.root / "other", *QUICK, "-q")
        self.assertEqual((again.returncode, told(again)), (1, []))

    def test_a_disk_that_is_full_is_an_error(self):
        with open("/dev/full", "w") as full:
            for command in (("graph", "stats", SOURCE / "samples"), ("graph", "check", SOURCE / "passbench"), ("--help",)):
                with self.subTest(command=command):
                    done = subprocess.run([BINARY, *map(str, command)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=240)
                    self.assertEqual(done.returncode, 4)
                    self.assertEqual(done.stderr, "error: cannot write to stdout: No space left on device\n")

    def test_stdout_that_is_closed_is_no_bug(self):
        done = subprocess.run(["bash", "-c", '"$0" graph stats "$1" >&-', BINARY, SOURCE / "samples"], stderr=subprocess.PIPE, text=True,
                              timeout=240)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Noise(PassnetCase):
    def test_quiet_says_nothing_of_progress(self):
        loud, quiet = self.evaluate(), self.passnet("eval", self.sample, "-o", self.root / "q", *QUICK, "-q")
        self.assertIn("1/1 sample/small: correct", loud.stderr)
        self.assertEqual((quiet.returncode, told(quiet)), (0, []))

    def test_next_step_is_told_and_works(self):
        pass_dir = self.root / "fresh" / "pass_dir"
        pass_dir.mkdir(parents=True)
        done = self.passnet("pass", "new", "mine", pass_dir)
        self.assertEqual(done.stderr, f"next: passnet pass check {self.root / 'fresh'}\n")
        self.assertEqual(self.passnet("pass", "new", "--quiet", "other", pass_dir).stderr, "")
        indexed = self.passnet("dataset", "index", self.sample)
        command = re.search(r"^next: passnet (.*)$", indexed.stderr, re.MULTILINE).group(1).split()
        self.assertEqual(self.passnet(*command).returncode, 0)


class Colors(PassnetCase):
    """The table of a run that has nothing left to evaluate."""

    @classmethod
    def setUpClass(cls):
        case = cls.in_directory_of_class()
        case.assertEqual(case.evaluate(*QUICK).returncode, 0)
        settle(case.out / "sample")
        cls.command = ("eval", case.sample, "-o", case.out, *QUICK, "-q", "--resume")

    def test_colors(self):
        for flags, environment, colored in (((), {}, False), (("--color", "always"), {}, True),
                                            (("--color", "always"), {"NO_COLOR": "1"}, True), (("--color", "never"), {}, False)):
            with self.subTest(flags=flags, environment=environment):
                done = self.passnet(*self.command, *flags, env={**os.environ, **environment})
                self.assertEqual("\x1b[" in done.stdout, colored)

    def test_no_color_on_a_terminal(self):
        """On a pseudo-terminal colors come by themselves, but not with NO_COLOR."""
        for environment, colored in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False)):
            with self.subTest(environment=environment):
                terminal, inner = os.openpty()
                env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
                with subprocess.Popen([BINARY, *map(str, self.command)], stdout=inner, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                      env={**env, **environment}) as child:
                    os.close(inner)
                    text = b""
                    try:
                        while block := os.read(terminal, 65536):
                            text += block
                    except OSError:  # the other end is closed
                        pass
                    self.assertEqual(child.wait(240), 0)
                os.close(terminal)
                self.assertIn(b"small", text)
                self.assertEqual(b"\x1b[" in text, colored)


class Passes(PassnetCase):
    """Names that there are not, and what came near."""

    UNKNOWN = PASS.replace("torch.nn.functional.relu(x + y)", "torch.rol(x + y, 1)")

    def test_check_names_the_operator_that_was_meant(self):
        self.write_pass(source=self.UNKNOWN)
        expected = "add_relu.py:4:12: error: unknown operator 'torch.rol'\nhint: did you mean 'torch.roll'?\n"
        for path in (self.sample / "pass_dir", self.sample / "pass_dir" / "add_relu.py"):
            done = self.passnet("pass", "check", path)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertTrue(done.stderr.endswith(expected), done.stderr)
        done = self.passnet("pass", "match", self.sample, self.sample)
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stderr.endswith(expected), done.stderr)

    def test_check_of_a_sample_and_eval_call_it_a_bad_pass(self):
        self.write_pass(source=self.UNKNOWN)
        done = self.passnet("pass", "check", self.sample)
        self.assertEqual(done.returncode, 1)
        self.assertIn("unknown operator 'torch.rol'", done.stdout)
        record = self.only_record()
        self.assertEqual((record["stage"], record["error_kind"]), ("match", "bad-pass"))
        self.assertIn("did you mean 'torch.roll'?", record["error"])

    def test_methods_are_looked_up_too(self):
        self.write_pass(source=PASS.replace("torch.nn.functional.relu(x + y)", "(x + y).vieww(2)"))
        done = self.passnet("pass", "check", self.sample / "pass_dir")
        self.assertEqual(done.returncode, 3)
        self.assertIn("unknown method 'vieww'\nhint: did you mean 'view'?", done.stderr)

    def test_an_operator_that_only_pytorch_knows_is_fine(self):
        self.write_pass(source=PASS.replace("torch.nn.functional.relu(x + y)", "torch.ops.aten.sgn(torch.special.i0e(x + y))"))
        self.assertEqual(self.passnet("pass", "check", self.sample / "pass_dir").returncode, 0)

    def test_device_is_taken(self):
        done = self.passnet("pass", "check", self.sample, "--device", "cuda:x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cuda:x", done.stderr)
        self.assertEqual(self.passnet("pass", "check", self.sample, "--device", "cuda:99").returncode, 4)

    def test_misspelt_replacement_func(self):
        self.write_pass(source=PASS.replace("replacement_func", "replacment_func"))
        done = self.passnet("pass", "check", self.sample / "pass_dir")
        self.assertEqual(done.returncode, 3)
        self.assertIn("function 'replacement_func' is missing: found pattern, add_relu, replacement_args, replacment_func\n"
                      "hint: did you mean 'replacement_func' for 'replacment_func'?", done.stderr)

    def test_refused_is_said_once(self):
        model = self.sample / "graphs" / "small" / "model.py"
        model.write_text(model.read_text().replace("return (tmp_1,)", "return (tmp_1, tmp_0)"))
        done = self.passnet("pass", "match", self.sample, self.sample)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.count("refused"), 1, done.stdout)

    def test_match_over_graphs_sums_up_the_nearest_first(self):
        self.write_sample(["far", "near", "small"])
        for name, old, new in (("far", "tmp_0 = in_0 + in_1", "tmp_0 = in_0 * in_1"),
                               ("far", "torch.nn.functional.relu(tmp_0, inplace = False)", "tmp_0 - in_1"),
                               ("near", "torch.nn.functional.relu(tmp_0, inplace = False)", "tmp_0.sin()")):
            model = self.sample / "graphs" / name / "model.py"
            model.write_text(model.read_text().replace(old, new))
        done = self.passnet("pass", "match", self.sample, self.sample)
        self.assertEqual(done.returncode, 1)
        summary = done.stdout[done.stdout.index("1 of 3 match"):].splitlines()
        self.assertEqual([line.split("  ")[0].strip() for line in summary[1:]], ["1 match", "1 of 2 operators", "0 of 2 operators"])
        self.assertIn("graphs/near", summary[2])


if __name__ == "__main__":
    unittest.main()
