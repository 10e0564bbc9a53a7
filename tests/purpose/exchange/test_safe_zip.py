"""Reading one member of a zip archive: exactly its content, or an error."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
import zlib
from struct import pack, pack_into, unpack_from

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.purpose.exchange.readers import untrusted
from groundplan.purpose.exchange.readers.builder import UnreadableFile
from groundplan.purpose.exchange.readers.untrusted import MEMBER_BYTES_MAX, MEMBERS_MAX, read_member
from tests.purpose.exchange.miradi_project import make_zip
from tests.purpose.exchange.theory_strategies import tries

NAME = "project.xml"
CONTENT = b"<a>what is in it</a>" * 20
ARCHIVE = make_zip({"first.txt": b"1", NAME: CONTENT, "last.txt": b"3"})

# Offsets of the header fields after their signatures.
LOCAL, CENTRAL, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
FLAGS = {LOCAL: 6, CENTRAL: 8}
METHOD = {LOCAL: 8, CENTRAL: 10}
CRC = {LOCAL: 14, CENTRAL: 16}
PACKED = {LOCAL: 18, CENTRAL: 20}
SIZE = {LOCAL: 22, CENTRAL: 24}


def offset_of(raw: bytes, mark: bytes, name: str = NAME) -> int:
    """Return the offset of a member's header, or of the end of the directory."""
    at = raw.find(mark)
    while mark is not END and not raw.startswith(name.encode(), at + (30 if mark is LOCAL else 46)):
        at = raw.find(mark, at + 1)
    return at


def patch(raw: bytes, at: int, value: int, form: str = "<I") -> bytes:
    changed = bytearray(raw)
    pack_into(form, changed, at, value)
    return bytes(changed)


def patch_headers(
    field: dict[bytes, int], value: int, form: str = "<I", raw: bytes = ARCHIVE, name: str = NAME
) -> bytes:
    """Return an archive that declares another value for a member, in both headers."""
    for mark, offset in field.items():
        raw = patch(raw, offset_of(raw, mark, name) + offset, value, form)
    return raw


def error_of(raw: bytes, name: str = NAME) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read_member(raw, name)
    return caught.value.message


class Pipe(io.BytesIO):
    """A stream that can be written to but not rewound."""

    def tell(self) -> int:
        raise io.UnsupportedOperation

    def seek(self, offset: int, whence: int = 0, /) -> int:
        raise io.UnsupportedOperation


def make_streamed(pieces: list[bytes], file: io.BytesIO, *, is_long: bool = False) -> bytes:
    """Return an archive whose sizes were unknown when its header was written."""
    member = zipfile.ZipInfo(NAME, (2026, 1, 1, 0, 0, 0))
    member.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(file, "w") as archive, archive.open(member, "w", force_zip64=is_long) as content:
        for piece in pieces:
            content.write(piece)
    return file.getvalue()


def make_with_data(packed: bytes, content: bytes) -> bytes:
    """Return an archive with data that was deflated elsewhere."""
    raw = patch_headers(METHOD, 8, "<H", make_zip({NAME: packed}, zipfile.ZIP_STORED))
    return patch_headers(CRC, zlib.crc32(content), raw=patch_headers(SIZE, len(content), raw=raw))


# Accepted


@tries(25)
@given(
    members=st.dictionaries(st.text(min_size=1, max_size=8), st.binary(max_size=300), min_size=1, max_size=5),
    method=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
)
def test_what_was_put_in_comes_out(members: dict[str, bytes], method: int) -> None:
    members = {name: content for name, content in members.items() if "\0" not in name and name.isprintable()}
    raw = make_zip(members, method)

    for name, content in members.items():
        assert read_member(raw, name) == content


def test_a_member_longer_than_a_piece_comes_out_whole() -> None:
    content = b"".join(b"%d " % (n * n) for n in range(200_000))

    assert read_member(make_zip({NAME: content}), NAME) == content


@pytest.mark.parametrize("size", [2**16 - 1, 2**16, 2**16 + 1, 2**17, 10 * 2**16])
def test_what_waits_behind_a_full_piece_comes_out(size: int) -> None:
    assert read_member(make_zip({NAME: bytes(size)}), NAME) == bytes(size)


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize("file", [Pipe, io.BytesIO])
def test_an_archive_whose_sizes_are_behind_the_data_or_long_is_read(file: type[io.BytesIO], is_long: bool) -> None:
    assert read_member(make_streamed([CONTENT], file(), is_long=is_long), NAME) == CONTENT


def test_a_short_member_with_long_numbers_is_read() -> None:
    at = offset_of(ARCHIVE, CENTRAL)
    extra = b"\1\0\x10\0" + len(CONTENT).to_bytes(8, "little") + ARCHIVE[at + 20 : at + 24] + bytes(4)
    behind = at + 46 + len(NAME)
    raw = ARCHIVE[:behind] + extra + ARCHIVE[behind:]
    raw = patch(patch(raw, at + 20, 0xFFFFFFFF), at + 24, 0xFFFFFFFF)
    raw = patch(raw, at + 30, len(extra), "<H")
    end = offset_of(raw, END)
    raw = patch(raw, end + 12, unpack_from("<I", raw, end + 12)[0] + len(extra))

    assert read_member(raw, NAME) == CONTENT


def test_a_comment_may_hold_what_looks_like_the_end() -> None:
    comment = b"before" + END + bytes(18) + b"behind"
    raw = patch(ARCHIVE, len(ARCHIVE) - 2, len(comment), "<H") + comment

    assert read_member(raw, NAME) == CONTENT


def test_names_that_lead_elsewhere_are_only_names() -> None:
    raw = make_zip({"../../etc/passwd": b"x", "/etc/passwd": b"y", NAME: CONTENT})

    assert read_member(raw, NAME) == CONTENT
    assert read_member(raw, "../../etc/passwd") == b"x"


# Refused


def test_a_member_that_is_not_there_is_refused() -> None:
    assert "no 'other.xml'" in error_of(ARCHIVE, "other.xml")


def test_two_members_of_one_name_are_refused() -> None:
    raw = make_zip({NAME: CONTENT, "PROJECT.XML": CONTENT})

    assert read_member(raw, NAME) == CONTENT
    assert "2 members" in error_of(raw.replace(b"PROJECT.XML", NAME.encode()))


@pytest.mark.parametrize("raw", [b"", b"PK", b"<xml/>", END, END + bytes(17), ARCHIVE[:-1], ARCHIVE + b"x", bytes(99)])
def test_what_has_no_end_is_no_archive(raw: bytes) -> None:
    assert "not a zip archive" in error_of(raw)


def test_an_archive_without_members_has_none() -> None:
    assert "no 'project.xml'" in error_of(make_zip({}))


def test_an_archive_cut_short_anywhere_is_refused() -> None:
    for length in range(len(ARCHIVE)):
        error_of(ARCHIVE[:length])
        error_of(ARCHIVE[length + 1 :])


LIES = {
    "an encrypted member": patch_headers(FLAGS, 1, "<H"),
    "a strongly encrypted member": patch_headers(FLAGS, 0x41, "<H"),
    "a member that is encrypted in one header": patch(ARCHIVE, offset_of(ARCHIVE, LOCAL) + 6, 1, "<H"),
    "another method": make_zip({NAME: CONTENT}, zipfile.ZIP_BZIP2),
    "an unknown method": patch_headers(METHOD, 99, "<H"),
    "one method here and another there": patch(ARCHIVE, offset_of(ARCHIVE, LOCAL) + 8, 0, "<H"),
    "stored, though it is deflated": patch_headers(METHOD, 0, "<H"),
    "deflated, though it is stored": patch_headers(METHOD, 8, "<H", make_zip({NAME: CONTENT}, zipfile.ZIP_STORED)),
    "a wrong checksum": patch_headers(CRC, 0),
    "a wrong checksum in one header": patch(ARCHIVE, offset_of(ARCHIVE, LOCAL) + 14, 0),
    "shorter than it is": patch_headers(SIZE, len(CONTENT) - 1),
    "longer than it is": patch_headers(SIZE, len(CONTENT) + 1),
    "longer than anything": patch_headers(SIZE, 0xFFFFFFFE),
    "packed shorter than it is": patch_headers(PACKED, 10),
    "packed longer than it is": patch_headers(PACKED, 60),
    "packed to nothing": patch_headers(PACKED, 0),
    "packed beyond the end": patch_headers(PACKED, 0xFFFFFFF0),
    "long numbers that are not there": patch_headers({CENTRAL: 24}, 0xFFFFFFFF),
    "another name in its header": patch(ARCHIVE, offset_of(ARCHIVE, LOCAL) + 30, ord("q"), "<B"),
    "a header that is none": patch(ARCHIVE, offset_of(ARCHIVE, LOCAL), 0),
    "a directory that is none": patch(ARCHIVE, offset_of(ARCHIVE, CENTRAL), 0),
    "a place at the end": patch_headers({CENTRAL: 42}, len(ARCHIVE) - 1),
    "a place beyond the end": patch_headers({CENTRAL: 42}, 0xFFFFFFF0),
    "the place of another member": patch_headers({CENTRAL: 42}, 0),
    "another part": patch_headers({CENTRAL: 34}, 1, "<H"),
    "several parts": patch(ARCHIVE, offset_of(ARCHIVE, END) + 4, 1, "<H"),
    "members in another part": patch(ARCHIVE, offset_of(ARCHIVE, END) + 10, 4, "<H"),
    "a directory elsewhere": patch(ARCHIVE, offset_of(ARCHIVE, END) + 16, 5),
    "a directory beyond the end": patch(ARCHIVE, offset_of(ARCHIVE, END) + 16, 0xFFFFFFFF),
    "a shorter directory": patch(ARCHIVE, offset_of(ARCHIVE, END) + 12, 46),
    "a longer directory": patch(ARCHIVE, offset_of(ARCHIVE, END) + 16, offset_of(ARCHIVE, CENTRAL, "first.txt") - 9),
    "a directory with something behind it": patch(
        ARCHIVE[: offset_of(ARCHIVE, END)] + bytes(5) + ARCHIVE[offset_of(ARCHIVE, END) :],
        offset_of(ARCHIVE, END) + 5 + 12,
        offset_of(ARCHIVE, END) - offset_of(ARCHIVE, CENTRAL, "first.txt") + 5,
    ),
    "a name longer than the file": patch_headers({CENTRAL: 28}, 0xFFFF, "<H"),
    "data in its own header": patch_headers({LOCAL: 28}, 0xFFFF, "<H"),
    "data in the next member": patch_headers({LOCAL: 28}, 9, "<H"),
    "a neighbour that lies over it": patch_headers({CENTRAL: 20}, 5_000, name="first.txt"),
}


@pytest.mark.parametrize("lie", LIES)
def test_an_archive_that_is_not_as_it_says_is_refused(lie: str) -> None:
    assert LIES[lie] != ARCHIVE
    error_of(LIES[lie])


def test_what_was_deflated_elsewhere_is_read() -> None:
    assert read_member(make_with_data(zlib.compress(CONTENT, wbits=-15), CONTENT), NAME) == CONTENT


def test_something_behind_the_data_is_refused() -> None:
    assert "extra data after" in error_of(make_with_data(zlib.compress(CONTENT, wbits=-15) + b"and more", CONTENT))


def test_something_behind_data_that_fills_a_piece_is_refused() -> None:
    content = bytes(2**16 - 5)
    block = b"\1" + pack("<2H", len(content), 0xFFFF - len(content)) + content

    assert read_member(make_with_data(block, content), NAME) == content
    assert "extra data after" in error_of(make_with_data(block + b"and more", content))


def test_data_without_an_end_is_refused_though_all_of_it_is_there() -> None:
    packer = zlib.compressobj(wbits=-15)

    assert "truncated" in error_of(make_with_data(packer.compress(CONTENT) + packer.flush(zlib.Z_SYNC_FLUSH), CONTENT))


def test_data_that_lies_over_the_next_member_is_refused_though_it_is_as_announced() -> None:
    raw = make_zip({NAME: b"1234", "last.txt": b"3"}, zipfile.ZIP_STORED)
    raw = patch_headers(CRC, zlib.crc32(LOCAL), raw=patch_headers({LOCAL: 28}, 4, "<H", raw))

    assert "truncated" in error_of(raw)


def test_an_encrypted_member_is_called_so() -> None:
    for raw in (patch_headers(FLAGS, 1, "<H"), patch(ARCHIVE, offset_of(ARCHIVE, CENTRAL) + FLAGS[CENTRAL], 1, "<H")):
        assert "password" in error_of(raw)


def test_too_many_members_are_refused_before_they_are_looked_at() -> None:
    raw = bytearray(ARCHIVE)
    pack_into("<2H", raw, offset_of(ARCHIVE, END) + 8, MEMBERS_MAX + 1, MEMBERS_MAX + 1)

    assert str(MEMBERS_MAX) in error_of(bytes(raw))


def test_a_small_file_may_grow_as_it_likes_and_a_larger_one_in_proportion() -> None:
    free = untrusted.RATIO_FREE_BYTES

    assert read_member(make_zip({NAME: bytes(free)}), NAME) == bytes(free)
    assert "compressed too strongly" in error_of(make_zip({NAME: bytes(free + 1)}))


@pytest.mark.slow
def test_a_bomb_is_refused_without_being_inflated() -> None:
    raw = make_streamed([bytes(2**20)] * (MEMBER_BYTES_MAX // 2**20 + 2), io.BytesIO())
    in_bounds, short = (patch(raw, offset_of(raw, CENTRAL) + 24, size) for size in (MEMBER_BYTES_MAX, 1_000))
    tracemalloc.start()
    try:
        for bomb in (raw, in_bounds, short):
            error_of(bomb)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak_bytes < 20 * 2**20


# Any bytes


@tries(100)
@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(ARCHIVE) - 1), st.integers(0, 3), st.binary(max_size=3)), min_size=1, max_size=3
    )
)
def test_a_damaged_archive_gives_what_was_put_in_or_nothing(changes: list[tuple[int, int, bytes]]) -> None:
    raw = ARCHIVE
    for at, gone, instead in changes:
        raw = raw[:at] + instead + raw[at + gone :]
    try:
        content = read_member(raw, NAME)
    except UnreadableFile:
        return
    assert content == CONTENT


@tries(40)
@given(pieces=st.lists(st.sampled_from([LOCAL, CENTRAL, END, NAME.encode(), bytes(4)]) | st.binary(max_size=50)))
def test_any_bytes_are_read_or_refused(pieces: list[bytes]) -> None:
    error_of(b"".join(pieces))
