"""The command `passnet` of an installed wheel: the native program in the place of this process."""

import os
import sys

from . import programs


def main() -> None:
    command = next((word for word in sys.argv[1:] if not word.startswith("-")), "--help")
    asks_help = bool({"-h", "--help"} & set(sys.argv))
    if command not in programs.WITHOUT_TORCH and not asks_help:
        problem = programs.torch_problem()
        if problem:
            print(problem, file=sys.stderr)
            raise SystemExit(4)
    path = str(programs.path_of())
    os.execve(path, [path, *sys.argv[1:]], programs.environment())


if __name__ == "__main__":
    main()
