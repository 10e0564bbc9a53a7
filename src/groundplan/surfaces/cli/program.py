"""The command line: builds the commands, runs one, and returns its exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from groundplan.catalog import OPERATIONS
from groundplan.kernel.answers import encode
from groundplan.kernel.operations.registry import Registry
from groundplan.surfaces.cli.context.files import export_facts, import_facts
from groundplan.surfaces.cli.context.hydrate import hydrate
from groundplan.surfaces.cli.context.set_input import set_input
from groundplan.surfaces.cli.exchange.commands import export_plan, import_plan
from groundplan.surfaces.cli.failures import ensure_streams, report_lost_output, run_guarded, write_line
from groundplan.surfaces.cli.invocation import CommandResult, make_group_callback, with_common_options
from groundplan.surfaces.cli.knowledge.check import check, confirm
from groundplan.surfaces.cli.knowledge.rules import export_rules, import_rules
from groundplan.surfaces.cli.operation_commands import add_single_commands, build_operation_apps
from groundplan.surfaces.cli.option_help import asks_for_help, describe_parameters
from groundplan.surfaces.cli.purpose.add import add
from groundplan.surfaces.cli.purpose.compliance import check_compliance
from groundplan.surfaces.cli.purpose.files import export_theory, import_theory
from groundplan.surfaces.cli.purpose.record import ask, decide, measure, review, waive
from groundplan.surfaces.cli.purpose.render import render
from groundplan.surfaces.cli.screen.pager import print_paged
from groundplan.surfaces.cli.setup.after_commit import after_commit
from groundplan.surfaces.cli.setup.demo import demo
from groundplan.surfaces.cli.setup.doctor import doctor
from groundplan.surfaces.cli.setup.init import init
from groundplan.surfaces.cli.setup.organizations import create_organization, list_organizations
from groundplan.surfaces.cli.setup.serve import serve
from groundplan.surfaces.cli.setup.where import where
from groundplan.surfaces.cli.short.words.help import EPILOG
from groundplan.surfaces.cli.usage_errors import to_usage_error

PROGRAM = "groundplan"
COMPLETION = "_GROUNDPLAN_COMPLETE"  # set by a shell that asks for completions
DESCRIPTION = """
One durable planning memory, shared by people and AI agents.

New here? Run [bold]groundplan demo[/bold] to look around, or [bold]groundplan init[/bold] to start your own plan.
"""
START = "Start here"
PLAN = "Your plan"
AGENTS = "For agents"


# Commands that do not map to one operation: they also use a working copy or files, or take a single item as arguments.
CUSTOM_COMMANDS: Mapping[str, Mapping[str, Callable[..., CommandResult]]] = {
    "context": {
        "set": set_input,
        "export": export_facts,
        "import": import_facts,
        "hydrate": hydrate,
    },
    "knowledge": {
        "check": check,
        "confirm": confirm,
        "export-rules": export_rules,
        "import-rules": import_rules,
    },
    "org": {
        "create": create_organization,
        "list": list_organizations,
    },
    "purpose": {
        "add": add,
        "measure": measure,
        "review": review,
        "waive": waive,
        "decide": decide,
        "ask": ask,
        "compliance": check_compliance,
        "export": export_theory,
        "import": import_theory,
        "render": render,
    },
    "work": {
        "import": import_plan,
        "export": export_plan,
    },
}

# Commands of these groups that also stand by themselves: `groundplan import --from beads`.
TOP_COMMANDS: Mapping[str, Callable[..., CommandResult]] = {"import": import_plan, "export": export_plan}


class _AgentsLast(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: name == "mcp")


def run(argv: Sequence[str], operations: Registry = OPERATIONS) -> int:
    """Run one command line and return its exit status. It never raises."""
    ensure_streams()
    return run_guarded(lambda: _run(argv, operations), as_json="--json" in argv)


def _run(argv: Sequence[str], operations: Registry) -> int:
    try:
        outcome = _invoke(argv, operations)
    except SystemExit as end:  # raised by typer for a closed pipe and for shell completion
        return end.code if isinstance(end.code, int) else 0
    if not isinstance(outcome, CommandResult):
        return outcome if isinstance(outcome, int) else 0
    with report_lost_output():
        if outcome.as_json:
            write_line(sys.stdout, (outcome.encoded or encode(outcome.data)).decode("utf-8"))
        else:
            print_paged(outcome.draw)
    return outcome.exit_code


def _invoke(argv: Sequence[str], operations: Registry) -> Any:
    """Run the command without the error handling of typer."""
    said = None if COMPLETION in os.environ else argv
    app = get_command(build_app(operations, said))
    try:
        return app.main(list(argv), prog_name=PROGRAM, standalone_mode=False)
    except typer.TyperException as error:
        raise to_usage_error(error) from None
    except typer.Abort:
        raise KeyboardInterrupt from None


def build_app(operations: Registry = OPERATIONS, said: Sequence[str] | None = None) -> typer.Typer:
    """Return the app with every command, or only with those that the arguments `said` may name."""
    app = typer.Typer(
        cls=_AgentsLast,
        invoke_without_command=True,
        suggest_commands=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        epilog=EPILOG,
    )
    app.callback()(make_group_callback(DESCRIPTION, has_version=True))
    for function in (init, demo, where, doctor, serve):
        app.command(rich_help_panel=START)(with_common_options(function))
    for word, sub_app in build_operation_apps(operations, said).items():
        if said is None or word in said:
            for name, function in CUSTOM_COMMANDS.get(word, {}).items():
                own = describe_parameters(function, (word, name)) if asks_for_help(said) else None
                sub_app.command(name)(with_common_options(function, own))
        app.add_typer(sub_app, name=word, rich_help_panel=PLAN)
    add_single_commands(app, operations, said, panel=PLAN)
    app.command("after-commit", hidden=True)(with_common_options(after_commit))  # started by the git hook
    for name, function in TOP_COMMANDS.items():
        app.command(name, rich_help_panel=PLAN)(with_common_options(function))
    app.command(
        "mcp",
        rich_help_panel=AGENTS,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )(mcp)
    return app


def mcp(ctx: typer.Context) -> int:
    """Serve the plan to an AI agent over MCP (stdio); see groundplan mcp --help."""
    from groundplan.surfaces.cli.setup.mcp import run as run_mcp

    return run_mcp(ctx.args)
