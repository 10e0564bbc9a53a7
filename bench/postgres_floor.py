"""The smallest program on PostgreSQL that answers a line of JSON: the baseline of calls on that server.

It runs bare psycopg as the app role, on a table of the same size under a policy that only compares settings. Called as
`python postgres_floor.py URL SCHEMA.TABLE`; its methods are `read`, `commit` and `insert`.
"""

from __future__ import annotations

import json
import sys
from itertools import count

import psycopg
from psycopg import sql

TASKS_AT_ONCE = 100
EVENT = json.dumps([{"field": name, "before": None, "after": "A value"} for name in ("summary", "parent", "priority")])


def main() -> None:
    """Answer requests until the input ends."""
    url, table = sys.argv[1:]
    name = sql.Identifier(*table.split("."))
    read = sql.SQL("SELECT * FROM {} WHERE tenant_id = 'local' AND project_id = 'p' AND n = %s").format(name)
    update = sql.SQL("UPDATE {} SET rev = rev + 1 WHERE tenant_id = 'local' AND project_id = 'p' AND n = %s").format(
        name
    )
    insert = sql.SQL("INSERT INTO {} VALUES ('local', 'p', %s, 1, %s)").format(name)
    with psycopg.connect(url, autocommit=True, prepare_threshold=1) as connection:
        connection.execute(
            "SELECT set_config('groundplan.tenant', 'local', false), set_config('bench.projects', '{p}', false)"
        )
        [(last,)] = connection.execute(sql.SQL("SELECT max(n) FROM {}").format(name)).fetchall()
        new = count(last + 1)
        text = "A summary of the usual length"
        for line in sys.stdin.buffer:
            request = json.loads(line)
            match request["method"]:
                case "read":
                    connection.execute(read, (last // 2,)).fetchall()
                case "commit":
                    connection.execute("BEGIN")
                    connection.execute(update, (last // 2,))
                    connection.execute(insert, (next(new), text))
                    connection.execute("COMMIT")
                case "insert":
                    connection.execute("BEGIN")
                    with connection.cursor() as cursor:
                        cursor.executemany(insert, [(next(new), row) for row in (text, EVENT) * TASKS_AT_ONCE])
                    connection.execute("COMMIT")
            answer = {"jsonrpc": "2.0", "id": request["id"], "result": {}}
            sys.stdout.buffer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
