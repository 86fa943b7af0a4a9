"""The command `losscause`: that of Rust, and `sweep --engine ray`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import Any, NoReturn

from losscause import _losscause

# What the Rust command returns if the input cannot be used, and if a run failed.
BAD_INPUT = 2


def main(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if not _is_for_ray(given):
        # On Ctrl-C the command itself says what is kept, and ends as the signal ends a program.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        return _losscause.command(["losscause", *given], [sys.executable, _main_file()])
    try:
        return _sweep(_parser().parse_args(given))
    except _losscause.Error as error:
        print(f"losscause: {error}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # The interpreter would complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _main_file() -> str:
    """What an interpreter runs as the command; `-m losscause` would look into the current folder first."""
    return os.path.join(os.path.dirname(__file__), "__main__.py")


def _is_for_ray(given: list[str]) -> bool:
    verb = next((word for word in given if not word.startswith("-")), "")
    if verb != "sweep" or "--help" in given or "-h" in given:
        return False
    pairs = zip(given, [*given[1:], ""], strict=True)
    return any(pair == ("--engine", "ray") or pair[0] == "--engine=ray" for pair in pairs)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _losscause.Error(message)


def _parser() -> argparse.ArgumentParser:
    """The arguments of `losscause sweep`, and the address of a cluster."""
    parser = _Parser(prog="losscause", add_help=False, allow_abbrev=False)
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("verb", choices=["sweep"])
    parser.add_argument("sweep")
    parser.add_argument("--engine", choices=["ray"])
    parser.add_argument("--address")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", default="out/sweep")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--restart", action="store_true")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    return parser


def _sweep(given: argparse.Namespace) -> int:
    from losscause import _engine
    from losscause._board import Board

    tell = (lambda _: None) if given.quiet else Board().tell
    done = _engine.on_ray(
        given.sweep,
        dict(map(_setting, given.set)),
        {},
        runs=given.runs,
        seed=given.seed,
        out=given.out,
        resume=given.resume,
        restart=given.restart,
        address=given.address,
        tell=tell,
    )
    shown = done.json if given.format == "json" else done.tables
    if shown is not None:
        sys.stdout.write(shown)
    if not given.quiet:
        report = "" if done.json is None else "report.html, "
        files = f"{report}runs.csv, sweep.csv, sweep.json and runs.parquet"
        resumed = f" ({done.resumed} resumed)" if done.resumed else ""
        print(f"{done.cells} cells{resumed}; {files} in {given.out}", file=sys.stderr)
    return 0


def _setting(text: str) -> tuple[str, Any]:
    """KEY=VALUE, where the value is a number, true, false or a text."""
    key, equals, value = text.partition("=")
    if not equals:
        raise _losscause.Error(f"--set {text}: expected KEY=VALUE")
    for kind in (int, float):
        try:
            return key, kind(value)
        except ValueError:
            pass
    return key, {"true": True, "false": False}.get(value, value)
