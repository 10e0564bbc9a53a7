"""Write the files that are generated from the code: `python -m reference`. With --check only show the differences."""

from __future__ import annotations

import argparse
import sys

from reference.files import ROOT, SCHEMA, build_files, diff_file, explain_frozen_schema, find_orphans


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; print the differences and exit with 1")
    parser.add_argument(
        "--unreleased", action="store_true", help="no database with the latest schema exists outside this repository"
    )
    options = parser.parse_args()
    files = build_files()
    if options.check:
        found = [text for text in (diff_file(path, text) for path, text in files.items()) if text]
        found += [f"{path.relative_to(ROOT)} is no longer generated" for path in find_orphans()]
        print(*found, sep="\n", end="\n" if found else "")
        return 1 if found else 0
    if not options.unreleased and (reason := explain_frozen_schema(files[SCHEMA])):
        print(reason, file=sys.stderr)
        return 1
    for path in find_orphans():
        path.unlink()
    for path, text in files.items():
        if diff_file(path, text):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
