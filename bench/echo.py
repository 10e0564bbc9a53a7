"""The least that answers a line of JSON with a line of JSON: what every ratio is measured against."""

from __future__ import annotations

import json
import sys

for line in sys.stdin.buffer:
    request = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": {}}
    sys.stdout.buffer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
    sys.stdout.buffer.flush()
