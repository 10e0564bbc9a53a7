"""Completion for bash, zsh and fish: static files that ask `groundplan __complete`, and where they are installed."""

from __future__ import annotations

from groundplan.surfaces.cli.completion.install import install, uninstall

__all__ = ["install", "uninstall"]
