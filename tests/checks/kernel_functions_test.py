"""docs/kernels.md lists every public function of the headers that CPU kernels include, and none that is not there."""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["PASSNET_SOURCE_DIR"])
HEADERS = ("elements", "math", "planes", "product_operands", "products", "rows", "task", "vec")


def without_details(text):
    """The text of a header without comments, private members and what stands in `namespace detail`."""
    text = re.sub(r"//[^\n]*", "", text)
    while (found := re.search(r"namespace detail \{", text)) is not None:
        depth, at = 1, found.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        text = text[: found.start()] + text[at:]
    return re.sub(r"\n private:.*?\n};", "\n};", text, flags=re.DOTALL)


def public_functions(text):
    text = without_details(text)
    # PASSNET_MATH_(exp) defines exp for float and vec; the macros' own text defines nothing.
    names = set(re.findall(r"^PASSNET_(?:MATH|LIBM)_\((\w+)\)", text, re.MULTILINE))
    text = re.sub(r"^#define(?:[^\n]*\\\n)*[^\n]*\n", "", text, flags=re.MULTILINE)
    defined = r"(?:inline|constexpr)\s+\w[\w:&*]*(?:<[^>()]*>)?[&*]*(?:\s+[&*])?\s+(\w+)\("
    return names | set(re.findall(defined, text)) - {"float"}  # the conversion


def public_types(text):
    return set(re.findall(r"^(?:struct|using) (\w+)", without_details(text), re.MULTILINE))


def section(text):
    return re.search(r"^## What a CPU kernel may call\n(.*?)^#", text, re.MULTILINE | re.DOTALL)[1]


class KernelFunctionsTest(unittest.TestCase):
    def setUp(self):
        self.listed = section((SOURCE / "docs/kernels.md").read_text())
        self.texts = {name: (SOURCE / f"include/passnet/{name}.h").read_text() for name in HEADERS}

    def test_every_public_function_and_type_is_listed(self):
        count = 0
        for header, text in self.texts.items():
            for name in sorted(public_functions(text) | public_types(text)):
                with self.subTest(header=header, name=name):
                    self.assertRegex(self.listed, rf"\b{name}\b", f"include/passnet/{header}.h has {name}; docs/kernels.md does not list it")
                count += 1
        self.assertGreater(count, 40, "hardly any functions were found")

    def test_every_header_of_kernel_h_is_looked_at(self):
        cpu = (SOURCE / "include/passnet/kernel.h").read_text().split("#else")[1]
        self.assertEqual(set(re.findall(r"#include <passnet/(\w+)\.h>", cpu)), set(HEADERS))

    def test_what_is_listed_exists(self):
        known = set().union(*(public_functions(text) | public_types(text) for text in self.texts.values()))
        for row in re.findall(r"^\| (`[^|]+) \|", self.listed, re.MULTILINE):
            for call in re.findall(r"(?:^| )([a-z_]\w*)(?:<[\w:]+>)?\(", row.replace("`", " ")):
                self.assertIn(call, known, f"docs/kernels.md lists {call}, which no header has")


if __name__ == "__main__":
    unittest.main()
