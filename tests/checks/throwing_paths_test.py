"""No call of std::filesystem throws: each takes an error code, or is one of base/file/paths.h. Paths come from users, and may be too long, a loop of
links, or in a directory that may not be read."""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])

# Arguments of a call that throws; with one more it takes an error code.
ARGUMENTS = {
    **dict.fromkeys("exists is_directory is_regular_file is_symlink is_empty absolute canonical weakly_canonical file_size create_directory create_directories "
                    "remove remove_all status symlink_status read_symlink last_write_time space hard_link_count directory_iterator "
                    "recursive_directory_iterator".split(), 1),
    **dict.fromkeys("rename copy copy_file equivalent create_symlink create_directory_symlink create_hard_link relative proximate permissions resize_file".split(), 2),
    **dict.fromkeys("current_path temp_directory_path".split(), 0),
}
CALL = re.compile(r"\b(?:std::filesystem|fs)::(%s)(?: \w+)?\(" % "|".join(ARGUMENTS))
OF_ENTRY = re.compile(r"(?:\.|->)(?:is_directory|is_regular_file|is_symlink|is_character_file|file_size|symlink_status|hard_link_count|last_write_time)\(\)")
LOOP = re.compile(r"\bfor \([^;]*:\s*(?:std::filesystem|fs)::(?:recursive_)?directory_iterator\(")
OF_STATUS = re.compile(r"(?:^|[.:>])(?:symlink_)?status(?:\(.*\))?$", re.DOTALL)


def arguments(text, begin):
    """The arguments of the call whose bracket opens before `begin`."""
    found, depth, start = [], 1, begin
    for at in range(begin, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        if depth == 0 or depth == 1 and text[at] == ",":
            found.append(text[start:at].strip())
            start = at + 1
        if depth == 0:
            return [one for one in found if one]
    raise AssertionError("a bracket is not closed")


def throwing(text):
    """Positions of calls that throw."""
    text = re.sub(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", lambda match: ("_" if match.group()[0] == '"' else " ") * len(match.group()), text)
    places = [match.start() for pattern in (OF_ENTRY, LOOP) for match in pattern.finditer(text)]
    for match in CALL.finditer(text):
        given = arguments(text, match.end())
        if len(given) == ARGUMENTS[match.group(1)] and not (given and OF_STATUS.search(given[0])):
            places.append(match.start())
    return places


class ThrowingPaths(unittest.TestCase):
    def test_every_call_takes_an_error_code(self):
        found = []
        for folder in ("src", "apps"):
            for path in sorted((SOURCE / folder).rglob("*")):
                if path.suffix in (".cpp", ".h"):
                    text = path.read_text()
                    found += [f"{path.relative_to(SOURCE)}:{text.count(chr(10), 0, at) + 1}" for at in throwing(text)]
        self.assertEqual(found, [], "these throw: give an error code, or use base/file/paths.h")

    def test_finds_what_throws(self):
        for line in ("if (fs::exists(root / name(a, b))) return;", "for (const auto& e : fs::directory_iterator(d, failed)) {", "entry.is_directory()",
                     "fs::rename(a, b);", "fs::directory_iterator at(dir), end;"):
            self.assertEqual(len(throwing(line)), 1, line)
        for line in ("fs::exists(root, failed)", "fs::exists(fs::symlink_status(path, failed))", "fs::is_directory(status)", "fs::rename(a, b, failed);"):
            self.assertEqual(throwing(line), [], line)


if __name__ == "__main__":
    unittest.main()
