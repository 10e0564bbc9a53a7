"""The Chromium of the machine, for tests in a real browser. Where there is none, Debian's package is installed.

`GROUNDPLAN_TEST_BROWSER` names another program. A machine without a browser and without the right to install one fails
the tests; it never skips them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
INSTALL_S = 300


def find_browser() -> str:
    """Return the path of a browser, after installing one if need be. Raises RuntimeError if that is not possible."""
    named = os.environ.get("GROUNDPLAN_TEST_BROWSER")
    if named:
        return named
    with Path(tempfile.gettempdir(), "groundplan-test-browser.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the processes of one test run must not install it at the same time
        return _find_installed() or _install()


def _find_installed() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _install() -> str:
    prefix = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]):
            subprocess.run([*prefix, *command], check=True, capture_output=True, timeout=INSTALL_S, env=environment)
    except (OSError, subprocess.SubprocessError) as error:
        detail = getattr(error, "stderr", None) or b""
        raise RuntimeError(
            "no browser: install chromium, or set GROUNDPLAN_TEST_BROWSER to the path of one "
            f"({error}; {detail.decode(errors='replace')[-300:]})"
        ) from error
    found = _find_installed()
    if found is None:
        raise RuntimeError("no browser: install chromium, or set GROUNDPLAN_TEST_BROWSER to the path of one")
    return found


if __name__ == "__main__":
    # Before the tests, so that none of them waits for the installation.
    try:
        find_browser()
    except RuntimeError as error:
        sys.exit(str(error))
