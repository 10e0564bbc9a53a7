"""`groundplan purpose render`: draw the picture of a version to standard output or a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET

from groundplan.purpose.exchange.formats import require_extra
from groundplan.purpose.exchange.writers.picture import SCALE, SCALE_MAX, PngTooLarge, choose_theme, rasterize
from groundplan.surfaces.cli.command_line import option
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.files import STANDARD_STREAM, print_file, refuse_existing, write_file
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import DraftOption, ForceOption, ProjectOption, select_version

if TYPE_CHECKING:
    from groundplan.purpose.exchange.render import Rendered
    from groundplan.purpose.exchange.writers.picture import Png


def render(
    invocation: Invocation,
    project: ProjectOption,
    svg: Annotated[
        str | None,
        option("--svg", value="FILE", text="The SVG file. Default: -, standard output, unless --png is given."),
    ] = None,
    png: Annotated[
        str | None,
        option("--png", value="FILE", text="The PNG file. Needs groundplan[png]."),
    ] = None,
    scale: Annotated[
        int | None,
        option(
            "--scale",
            value="NUMBER",
            text=f"Pixels of the PNG per pixel of the picture. Default: {SCALE}.",
            low=1,
            high=SCALE_MAX,
        ),
    ] = None,
    version: Annotated[
        str | None,
        option("--version", value="VERSION"),
    ] = None,
    draft: DraftOption = False,
    everything: Annotated[
        bool,
        option("--all", text="Draw every node of a large plan, not an overview."),
    ] = False,
    overview: Annotated[
        bool,
        option("--overview", text="Draw groups of nodes, as above 120 nodes."),
    ] = False,
    group: Annotated[
        str | None,
        option("--group", value="GROUP"),
    ] = None,
    view: Annotated[
        str | None,
        option("--view", value="NAME"),
    ] = None,
    pathway: Annotated[
        str | None,
        option("--pathway", value="KEY"),
    ] = None,
    compare: Annotated[
        str | None,
        option("--compare", value="VERSION"),
    ] = None,
    theme: Annotated[
        Literal["light", "dark", "auto"],
        option(
            "--theme",
            value="light|dark|auto",
            text="The colours; auto follows the reader's screen, and is light in a PNG. Default: light.",
        ),
    ] = "light",
    force: ForceOption = False,
) -> CommandResult:
    """Draw a version as SVG or PNG: all of it or an overview, a view, the paths of one node, or what changed."""
    if svg is None and png is None:
        svg = STANDARD_STREAM
    _check_outputs(svg, png, scale, force=force)
    if everything and overview:
        raise UsageError("--all and --overview cannot be combined; give one of them")
    detail = "all" if everything else "overview" if overview else None
    given = {"detail": detail, "group": group, "view": view, "pathway": pathway, "compare": compare, "theme": theme}
    options = {name: value for name, value in given.items() if value is not None} | select_version(version, draft=draft)
    with invocation.session(reads_only=True) as session:
        answer = plain = session.call("purpose.render", project=project, **options)
        if png is not None and choose_theme(theme) != theme:
            plain = session.call("purpose.render", project=project, **{**options, "theme": choose_theme(theme)})
    raster = None if png is None else _rasterize(plain, scale or SCALE)  # before anything is written: it may fail
    data: dict[str, Any] = {"version": answer.version}
    files = []
    if svg == STANDARD_STREAM:
        data = {name: value for name in answer.__struct_fields__ if (value := getattr(answer, name)) is not UNSET}
    elif svg is not None:
        files.append(_write_picture(svg, answer.svg.encode(), answer.width, answer.height, force=force))
        data |= files[0]
    if png is not None and raster is not None:
        files.append(_write_picture(png, *raster, force=force))
        data["png"] = files[-1]

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        if svg == STANDARD_STREAM:
            print_file(answer.svg)
            return
        for one in files:
            echo(f"Wrote {one['file']}: v{answer.version}, {one['width']} x {one['height']}, {one['bytes']} bytes.")
        if answer.groups is not UNSET:
            ids = ", ".join(f"{one.group} ({one.nodes})" for one in answer.groups)
            echo(f"An overview of groups: {ids}. --group opens one of them, --all draws every node.")

    return CommandResult(data, draw)


def _check_outputs(svg: str | None, png: str | None, scale: int | None, *, force: bool) -> None:
    """Check the output options before anything is drawn."""
    if png is None and scale is not None:
        raise UsageError("--scale needs --png FILE")
    if png == STANDARD_STREAM:
        raise UsageError("a PNG cannot be written to standard output; name a file with --png")
    if png is not None and png == svg:
        raise UsageError("--svg and --png name the same file; name two files")
    for out in (svg, png):
        if out is not None:
            refuse_existing(out, force=force)
    if png is not None:
        require_extra("png")


def _rasterize(picture: Rendered, scale: int) -> Png:
    """Return a picture as PNG."""
    try:
        return rasterize(picture, scale)
    except PngTooLarge as error:
        smaller = "use --scale 1, " if scale > 1 else ""
        sentence = f"{error.problem}; {smaller}show less with --pathway or --group, or use --svg"
        raise UsageError(sentence, **error.details) from None


def _write_picture(file: str, content: bytes, width: int, height: int, *, force: bool) -> dict[str, Any]:
    """Write a picture and return its name and size."""
    write_file(file, content, force=force)
    return {"file": file, "width": width, "height": height, "bytes": len(content)}
