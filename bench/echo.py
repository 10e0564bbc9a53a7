"""The smallest program that answers a line of JSON with a line of JSON: the baseline of round trips."""

from __future__ import annotations

import json
import sys

for line in sys.stdin.buffer:
    request = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": {}}
    sys.stdout.buffer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
    sys.stdout.buffer.flush()
