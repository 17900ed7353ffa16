"""The command line: ``shuffledp bounds``, ``claims``, ``verify``, ``compare`` and ``recover``."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys

from .core.domain import DomainError

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="shuffledp", description="Differential privacy in the shuffle model, checkable."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    table = commands.add_parser("bounds", help="every applicable bound, the exact value and the limit at one setting")
    table.add_argument("--epsilon0", required=True, type=float, help="local privacy parameter, natural log")
    table.add_argument("--n", required=True, type=float, help="number of users, e.g. 1e6")
    table.add_argument("--delta", required=True, type=float)
    table.add_argument("--k", type=float, help="alphabet of randomized response (default 2)")
    table.add_argument("--csv", action="store_true", help="comma-separated output")
    listing = commands.add_parser("claims", help="list the claims of the ledger, or show one whole")
    listing.add_argument("id", nargs="?", help="a claim id, e.g. efmrtt19.thm7.general")
    check = commands.add_parser("verify", help="run the checks; exit status 1 if something does not hold as recorded")
    check.add_argument("ids", nargs="*", metavar="ID", help="claim ids; all claims if none is given")
    reading = commands.add_parser("compare", help="is this formula the claim's? exit status 1 if not, 2 if unreadable")
    reading.add_argument("id", help="a claim id")
    reading.add_argument("formula", help="in the claim's symbols, e.g. '12 eps0 sqrt(log(1/delta)/n)'")
    reading.add_argument("--latex", action="store_true", help="the formula is LaTeX")
    damaged = commands.add_parser("recover", help="which lost roots and exponents make this text the claim?")
    damaged.add_argument("id", help="a claim id")
    damaged.add_argument("text", help="as a PDF's text layer has it, e.g. '12ε0 log(1/δ)/n'")
    for command in (listing, check):
        command.add_argument("--source", metavar="KEY", help="only the claims of one source, e.g. dr14")
    for command in (table, listing, check, reading, damaged):
        command.add_argument("--json", action="store_true", help="machine-readable output")
    return parser


def _bounds(args) -> int:
    from . import compare

    result = compare(args.epsilon0, args.n, args.delta, args.k)
    rows = result.to_dict()["rows"]
    if args.json:
        print(json.dumps(result.to_dict(), indent=2))
    elif args.csv:
        writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        print(result)
    return 0


def _select(ids: list[str], source: str | None):
    from .claims import ledger, record, sources

    if source is not None and source not in sources():
        raise KeyError(f"no source {source!r}; there are {', '.join(sources())}")
    chosen = [record(claim_id) for claim_id in ids] if ids else list(ledger())
    return [claim for claim in chosen if source in (None, claim.source["key"])]


def _claims(args) -> int:
    chosen = _select([args.id] if args.id else [], args.source)
    if args.json:
        print(json.dumps([claim.to_dict() for claim in chosen], indent=2))
    elif args.id:
        for key, value in chosen[0].to_dict().items():
            if isinstance(value, dict):
                value = ", ".join(f"{k}: {v}" for k, v in value.items())
            elif isinstance(value, list):
                value = ", ".join(map(str, value))
            print(f"{key:<14}{value if value not in (None, '') else '-'}")
    else:
        width = max(len(claim.id) for claim in chosen)
        for claim in chosen:
            print(f"{claim.id:<{width}}  {claim.verdict:<22}  {claim.title}")
    return 0


def _progress(done: int, total: int, what: str) -> None:
    """A bar on a terminal, nothing elsewhere."""
    if sys.stderr.isatty():
        full = round(24 * done / total)
        sys.stderr.write("\r\x1b[K" if done == total else f"\r\x1b[K[{'#' * full:<24}] {done}/{total} {what}")
        sys.stderr.flush()


def _evidence(chosen: list, verify):
    """The evidence of several claims in their order, on all cores where there are many."""
    if len(chosen) < 10:
        yield from (verify(claim.id) for claim in chosen)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(verify, [claim.id for claim in chosen])


def _verify(args) -> int:
    from .claims import as_recorded, verify

    chosen = _select(args.ids, args.source)
    width = max((len(claim.id) for claim in chosen), default=0)
    results = []
    for number, (claim, evidence) in enumerate(zip(chosen, _evidence(chosen, verify), strict=True), 1):
        _progress(number, len(chosen), claim.id)
        agrees = as_recorded(claim, evidence)
        results.append({"id": claim.id, "recorded": claim.verdict, "as_recorded": agrees, **evidence.to_dict()})
        if not args.json:
            _progress(1, 1, "")
            worst = "" if math.isnan(evidence.worst) else f"worst {evidence.worst:.1e}"
            print(
                f"{'ok ' if agrees else 'NOT'}  {claim.id:<{width}}  {evidence.verdict:<8} "
                f"{evidence.points:>6} points  {worst:<14} {evidence.seconds:6.2f} s  recorded: {claim.verdict}"
            )
            if not agrees:
                print(f"     {evidence.detail}")
    _progress(len(chosen), len(chosen), "")
    wrong = [result["id"] for result in results if not result["as_recorded"]]
    if args.json:
        clean = [{**r, "worst": None if math.isnan(r["worst"]) else r["worst"]} for r in results]
        print(json.dumps(clean, indent=2))
    else:
        seconds = sum(result["seconds"] for result in results)
        print(f"{len(results) - len(wrong)} of {len(results)} claims as recorded, {seconds:.1f} s")
    return 1 if wrong or not results else 0


def _compare(args) -> int:
    from .claims import Different, Unreadable, compare

    answer = compare(args.id, args.formula, "latex" if args.latex else "plain")
    if args.json:
        print(json.dumps(answer.to_dict(), indent=2))
    else:
        print(f"Unreadable: {answer}." if isinstance(answer, Unreadable) else answer)
    return 2 if isinstance(answer, Unreadable) else 1 if isinstance(answer, Different) else 0


def _recover(args) -> int:
    from .claims import Unreadable, recover

    answer = recover(args.id, args.text)
    if args.json:
        print(json.dumps(answer.to_dict(), indent=2))
    else:
        print(f"Unreadable: {answer}." if isinstance(answer, Unreadable) else answer)
    return 2 if isinstance(answer, Unreadable) else 0 if answer.readings else 1


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit status (2 for a request that makes no sense)."""
    args = _parser().parse_args(argv)
    try:
        commands = {"bounds": _bounds, "claims": _claims, "verify": _verify, "compare": _compare, "recover": _recover}
        return commands[args.command](args)
    except DomainError as error:
        print(f"shuffledp: {error}", file=sys.stderr)
        return 2
    except KeyError as error:
        print(f"shuffledp: {error.args[0]}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
