"""The files of the commit that was checked last, for readers without a repository.

They are kept as one compressed text for each project. A large repository sends every n-th file, so that the shares of
its folders stay right; `total` says how many files there are.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Collection

import msgspec
from msgspec import Struct

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

KEPT_MAX = 20_000  # matching all of them with a pattern takes about a tenth of a second
KEPT_BYTES_MAX = 1 << 22

sql = load_queries(__file__)

_decode_paths = msgspec.json.Decoder(list[str]).decode


class CheckedFiles(Struct):
    """The stored files of a project."""

    commit_id: str
    checked_at: str
    total: int  # of the commit, also of those that are not kept
    kept: int
    packed: str

    @property
    def paths(self) -> list[str]:
        """The paths, sorted."""
        return _decode_paths(zlib.decompress(b64decode(self.packed)))


def load_checked_files(tx: Transaction) -> CheckedFiles | None:
    """Return the files of the last check of the current project, if one sent them."""
    return tx.one_or_none(sql.checked_files, CheckedFiles, project_id=tx.project.id)


def pack_paths(paths: Collection[str]) -> str:
    """Return paths as one compressed text."""
    return b64encode(zlib.compress(msgspec.json.encode(sorted(paths)))).decode("ascii")
