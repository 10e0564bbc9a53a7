"""Write the pictures of the documentation."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> int:
    sys.path.insert(0, str(ROOT))
    from tests.pictures.documentation_pictures import draw_pictures
    from tests.pictures.page_pictures import PAGE_FOLDER, list_files, list_guide_files, take_pictures

    for path, svg in draw_pictures().items():
        is_new = not path.exists() or path.read_text(encoding="utf-8") != svg
        if is_new:
            path.parent.mkdir(exist_ok=True)
            path.write_text(svg, encoding="utf-8")
        print(f"{'wrote' if is_new else 'is current:'} {path.relative_to(ROOT)}")
    for taken in take_pictures():
        print(f"took {taken.relative_to(ROOT)}")
    for left in set(PAGE_FOLDER.glob("*.png")) - {*list_files(), *list_guide_files()}:
        left.unlink()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
