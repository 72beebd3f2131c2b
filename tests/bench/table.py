#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Markdown from what tests/bench/guest has measured: medians, ratios, a verdict."""
import argparse
import collections
import pathlib
import statistics

# perftest's MB are 2^20 bytes.
MIB = 1048576 / 1e6

# Of bench_work, whose numbers are instructions.
WORK = {
    "pingpong.64": "send, 64 bytes, answered by the next",
    "send.64": "send, 64 bytes, one at a time",
    "chain.64": "send, 64 bytes, 32 posted at once",
    "write.64": "write, 64 bytes, one at a time",
    "send.64k": "send, 64 KiB",
    "write.64k": "write, 64 KiB",
    "read.64k": "read, 64 KiB",
}


def describe(metric):
    """Title, format, factor, more-is-better of a metric's name."""
    kind, size, what = metric.split(".")
    if what == "work":
        return WORK[f"{kind}.{size}"], "{:.0f}", 1, False
    if what.startswith("q"):
        qps = int(what[1:])
        title = f"{kind}, 64 KiB" + (f", {qps} queue pairs" if qps > 1 else "")
        return title, "{:.1f} MB/s", MIB, True
    if what == "rate":
        return f"{kind}, 64 bytes, messages", "{:.2f} k/s", 1000, True
    return f"{kind}, 64 bytes, latency, {what}", "{:.1f} us", 1, False


def read_values(path):
    """{metric: {who: [numbers]}} in the order of the file."""
    values = collections.OrderedDict()
    for line in path.read_text().splitlines():
        word = line.split()
        if word and word[0] == "value":
            values.setdefault(word[1], {}).setdefault(word[2], []).append(float(word[3]))
    return values


def spread(numbers):
    """How far the runs lie apart, as a share of their median."""
    middle = statistics.median(numbers)
    return (max(numbers) - min(numbers)) / middle if middle else 0


def rows(values):
    """One row for each metric that both drivers have."""
    for metric, by in values.items():
        if "rxe" not in by or "rxo" not in by:
            continue
        title, form, factor, more = describe(metric)
        rxe, rxo = (statistics.median(by[who]) * factor for who in ("rxe", "rxo"))
        ratio = rxo / rxe if more else rxe / rxo
        plain = form.format(statistics.median(by["plain"]) * factor) if "plain" in by else ""
        yield title, form.format(rxe), form.format(rxo), ratio, plain, \
            f"{spread(by['rxe']):.0%}, {spread(by['rxo']):.0%}"


def table(values, spreads):
    """Lines of the table, and titles of the rows in which we are behind."""
    lines = ["| | rdma_rxe | rxe_ordered | times better | without trains |" +
             (" spread |" if spreads else ""),
             "|---|---:|---:|---:|---:|" + ("---:|" if spreads else "")]
    behind = []
    for title, rxe, rxo, ratio, plain, apart in rows(values):
        lines.append(f"| {title} | {rxe} | {rxo} | {ratio:.2f} | {plain} |" +
                     (f" {apart} |" if spreads else ""))
        if ratio < 1:
            behind.append(f"{title} ({ratio:.2f})")
    return lines, behind


def verdict(behind, count):
    """Who is faster, in a line."""
    if not behind:
        return f"Verdict: rxe_ordered is not behind rdma_rxe in any of {count} rows."
    return f"Verdict: rxe_ordered is behind rdma_rxe in {len(behind)} of {count} rows: " + \
        "; ".join(behind) + "."


def bounds(values):
    """What one processor could do at most, or nothing if it was not measured."""
    try:
        copy, crc = (max(values[name]["bound"]) for name in ("memcpy", "crc32"))
    except KeyError:
        return []
    both = 1 / (2 / copy + 2 / crc)
    best = max((statistics.median(by["rxo"]) * MIB for metric, by in values.items()
                if metric.endswith(".q1") and "rxo" in by), default=0)
    return [f"Bounds, same boot: memcpy of 64 KiB {copy:.0f} MB/s (C library), CRC-32"
            f" {crc:.0f} MB/s (the kernel's, over AF_ALG). A byte that is copied twice and"
            f" checked twice on one processor: {both:.0f} MB/s; the best row of rxe_ordered"
            f" is {best / both:.0%} of that (both ends may work at the same time).", ""]


def in_real_time(args):
    """Lines of that part; none if it was not measured."""
    if not (args.folder / "race" / "values").exists():
        return []
    values = read_values(args.folder / "race" / "values")
    lines, behind = table(values, True)
    return [f"## Two processors, real time, medians of {args.runs} runs", "", *lines, "",
            verdict(behind, len(lines) - 2), "", *bounds(values)]


def in_virtual_time(args):
    """Lines of that part."""
    lines, behind = table(read_values(args.folder / "virtual" / "values"), False)
    return ["## One processor, virtual time: instructions for a message", "",
            "Both ends together, in user space and kernel, from posting to the last completion.",
            "", *lines, "", verdict(behind, len(lines) - 2), ""]


def main():
    parser = argparse.ArgumentParser()
    for option in ("kernel", "commit", "host", "runs"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    release = (args.folder / "virtual" / "kernel").read_text().strip()
    flags = (args.folder / "virtual" / "cpu-flags").read_text().split()

    print(f"# rxe_ordered and rdma_rxe on {release}", "",
          f"Commit {args.commit}. Written by `make bench`, see tests/bench/README.md.", "",
          *in_real_time(args), *in_virtual_time(args),
          "## Measured on", "",
          f"Host: {args.host}. No KVM: TCG, -cpu max,-erms,-fsrm,-pclmulqdq,-cx16. Flags seen by"
          " the guest that matter: " +
          ", ".join(f"{name} {'yes' if name in flags else 'no'}"
                    for name in ("erms", "fsrm", "pclmulqdq", "rep_good", "avx2", "sse4_2")) +
          ".", sep="\n")


if __name__ == "__main__":
    main()
