"""The commands of passnet, as its help lists them."""

import functools
import re
import subprocess

from passnet_case import BINARY


@functools.cache
def help_of(command):
    done = subprocess.run([BINARY, *command.split(), "--help"], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


def subcommands(command=""):
    """The names below `command`, of the section "Subcommands:" of its help."""
    section = re.search(r"^Subcommands:\n((?:  .*\n)+)", help_of(command) + "\n", re.MULTILINE)
    return re.findall(r"^  ([a-z]\S*)", section.group(1), re.MULTILINE) if section else []


def groups(command=""):
    """`command` and all groups of commands below it: "", "graph", "dataset", …"""
    names = [name for name in subcommands(command)]
    return [command, *[group for name in names for group in groups(f"{command} {name}".strip()) if subcommands(group)]] if names else [command]


def leaves(command=""):
    """All commands that do something: "eval", "graph check", …; not `help`, whose text is for people alone."""
    names = [name for name in subcommands(command) if name != "help"]
    return [leaf for name in names for leaf in leaves(f"{command} {name}".strip())] if names else [command]


def options_of(command):
    """The help's line of each long option, by its name."""
    found = {}
    for line in re.split(r"\n  (?=-)", help_of(command)):
        names = re.match(r"(?:-\w\b[^-]*)?(--[a-z][\w-]*(?:,--[a-z][\w-]*)*)", line.strip())
        for name in names[1].split(",") if names else ():
            found.setdefault(name, " ".join(line.split("\n\n")[0].split()))
    return found
