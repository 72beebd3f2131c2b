#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Markdown from what tests/bench/loss-guest has measured."""
import argparse
import pathlib
import statistics

from table import MIB, read_values, spread

# Who, as the title of a column; the first is what others are compared with.
WHO = {"rxe": "rdma_rxe", "rxo": "rxe_ordered", "mixed": "rxe_ordered to rdma_rxe"}


def row(metric, by):
    """One line: each median, and how many times the first one it is."""
    kind, loss = metric.split(".")
    what = "no loss" if loss == "clean" else "1 % lost"
    base = statistics.median(by["rxe"])
    cells = [f"{base * MIB:.1f} MB/s"]
    for who in list(WHO)[1:]:
        median = statistics.median(by[who])
        cells += [f"{median * MIB:.1f} MB/s", f"{median / base:.2f}"]
    apart = ", ".join(f"{spread(by[who]):.0%}" for who in WHO)
    return f"| {kind}, {what} | " + " | ".join(cells) + f" | {apart} |"


def main():
    parser = argparse.ArgumentParser()
    for option in ("title", "commit", "runs"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("values", type=pathlib.Path)
    args = parser.parse_args()
    first, *others = WHO.values()
    print(f"# {args.title}", "",
          f"Commit {args.commit}. Written by `tests/bench/loss`, see tests/bench/README.md:"
          f" 64 KiB messages, one queue pair, time-out code 14 (67 ms), medians of {args.runs}"
          " runs in one boot, virtual time, 1 ns for an instruction. Loss is of single packets,"
          " in either direction.", "",
          f"| | {first} | " + " | ".join(f"{who} | times better" for who in others) +
          " | spread |",
          "|---|---:|" + "---:|---:|" * len(others) + "---:|",
          *(row(metric, by) for metric, by in read_values(args.values).items()), sep="\n")


if __name__ == "__main__":
    main()
