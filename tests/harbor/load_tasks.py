"""Run by Harbor's Python: loads every task of an export and its registry, and prints what Harbor makes of them as JSON."""

import asyncio
import json
import os
import pathlib
import sys

from harbor.models.task.task import Task
from harbor.models.task.verifier_mode import resolve_verifier_environment_definition
from harbor.registry.client.json import JsonRegistryClient

tasks = pathlib.Path(sys.argv[1], "tasks")
os.chdir(sys.argv[1])
listed = asyncio.run(JsonRegistryClient(path=pathlib.Path("registry.json")).get_dataset_metadata("passnet")).task_ids
loaded = []
for directory in sorted(tasks.iterdir()):
    task = Task(directory)
    verifier = resolve_verifier_environment_definition(task.config, task.paths)
    loaded.append({"name": task.name, "servers": [server.name for server in task.config.environment.mcp_servers], "artifacts": task.config.artifacts,
                   "verifier": [verifier.config.network_mode.value, verifier.bundled_tests, verifier.directory.name]})  # fmt: skip
print(json.dumps({"tasks": loaded, "listed": [str(task.path) for task in listed]}))
