"""Run the official suite and the official TypeScript clients against the server, and print which scenarios pass.

`make conformance` installs both first; they are the only part of this repository that needs packages of Node. The exit
status is 1 if a scenario fails that should pass, or if one passes that is listed as inapplicable.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conformance.expected import INAPPLICABLE, REVISIONS

HERE = Path(__file__).parent
STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")  # the suite appends it to the name of a scenario
PATIENCE_S = 600

Failures = dict[str, set[str]]  # the failed checks of each scenario


def main(installed: Path, node: str) -> int:
    """Return the exit status. `installed` is the folder in which the packages of Node are."""
    with tempfile.TemporaryDirectory(prefix="gp-conformance-") as folder, run_server(Path(folder)) as server:
        url = f"http://localhost:{server['port']}/mcp"
        seen = run_clients(node, installed, url, server["token"])
        ran: Failures = {}
        for revision in REVISIONS:
            for scenario, failed in run_suite(node, installed, url, revision, Path(folder)).items():
                ran.setdefault(scenario, set()).update(failed)
    for name, facts in seen.items():
        print(f"passed         TypeScript client ({name}): {json.dumps(facts)}")
    wrong = [*find_wrong_clients(seen), *print_scenarios(ran)]
    print("", *wrong, sep="\n")
    return 1 if wrong else 0


def print_scenarios(ran: Failures) -> list[str]:
    """Print a line for each scenario, and return what differs from the table."""
    wrong = []
    for scenario, failed in sorted(ran.items()):
        listed = INAPPLICABLE.get(scenario)
        unexpected = failed - listed.checks if listed and listed.checks else set() if listed else failed
        if unexpected:
            wrong.append(f"{scenario} fails: {', '.join(sorted(unexpected))}")
        elif listed and not failed:
            wrong.append(f"{scenario} passes; remove it from expected.py")
        inapplicable = "passed in part" if listed and listed.checks else "does not apply"
        outcome = "failed" if unexpected else inapplicable if failed else "passed"
        print(f"{outcome:14} {scenario}" + (f" ({listed.reason})" if listed and failed else ""))
    return wrong + [f"{scenario} did not run" for scenario in INAPPLICABLE if scenario not in ran]


def find_wrong_clients(seen: dict[str, Any]) -> list[str]:
    """Return which clients did not see what the others saw."""
    expected = {"tools", "prompts", "prompt", "projects", "refused"}
    wrong = [name for name, facts in seen.items() if facts.keys() != expected or not all(facts.values())]
    same = len({json.dumps(facts, sort_keys=True) for facts in seen.values()}) == 1
    return [f"the client {name} saw {seen[name]}" for name in wrong] + ([] if same else [f"clients differ: {seen}"])


@contextmanager
def run_server(folder: Path) -> Iterator[dict[str, Any]]:
    """Run the server until the end of the block, and yield its port and a token."""
    command = [sys.executable, "-m", "tests.conformance.server", str(folder / "plan.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()


def run_clients(node: str, installed: Path, url: str, token: str) -> dict[str, Any]:
    """Return what each TypeScript client saw."""
    program = installed / "clients.mjs"  # beside the packages, where Node looks for them
    program.write_bytes((HERE / "clients.mjs").read_bytes())
    ran = subprocess.run([node, str(program), url, token], stdout=subprocess.PIPE, check=True, timeout=PATIENCE_S)
    seen: dict[str, Any] = json.loads(ran.stdout)
    return seen


def run_suite(node: str, installed: Path, url: str, revision: str, folder: Path) -> Failures:
    """Run the scenarios of a revision, and return the failed checks of each."""
    results = folder / revision
    suite = installed / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    subprocess.run(
        [node, suite, "server", "--url", url, "--suite", "all", "--spec-version", revision, "-o", results],
        stdout=subprocess.DEVNULL,
        check=False,  # some scenarios fail
        timeout=PATIENCE_S,
    )
    return {
        STAMP.sub("", one.parent.name).removeprefix("server-"): {
            check["id"] for check in json.loads(one.read_text(encoding="utf-8")) if check["status"] == "FAILURE"
        }
        for one in results.glob("*/checks.json")
    }


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
