# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The program "victim" at the other end of a pipe, and its device's counters."""

import os
import subprocess
import time

RTS, ERR = 3, 6
WAIT_S = 20


class Failure(Exception):
    pass


class Victim:
    def __init__(self, command, device):
        # Devices are shown in the initial namespace, we are in another.
        self.counters = f"/proc/1/root/sys/class/infiniband/{device}/ports/1/hw_counters"
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        self._expect("ready")

    def close(self):
        self.process.stdin.close()
        if self.process.wait(WAIT_S) != 0:
            raise Failure(f"the victim exited with {self.process.returncode}")

    def _expect(self, word):
        line = self.process.stdout.readline().split()
        if not line or line[0] != word:
            raise Failure(f"the victim said {line}, expected {word}")
        return line[1:]

    def _ask(self, command, answer):
        self.process.stdin.write(command + "\n")
        return self._expect(answer)

    def new_qp(self, receives=0, mtu=1024):
        """A fresh queue pair; its numbers become attributes."""
        numbers = self._ask(f"qp {mtu} {receives}", "qp")
        (self.qpn, self.peer, self.psn, self.sq_psn, self.rkey, self.va,
         self.length) = map(int, numbers)

    def post(self, what, length):
        self._ask(f"{what} {length}", "ok")

    def state(self):
        return int(self._ask("state", "state")[0])

    def completions(self):
        """(status, opcode, length) of each since the last call."""
        return [tuple(map(int, c.split(":"))) for c in self._ask("wc", "wc")]

    def memory(self):
        """Checksum of the region; what is around it must be as it was."""
        checksum, around = self._ask("memory", "memory")
        if around != "intact":
            raise Failure("bytes outside of the region have changed")
        return checksum

    def counter(self, name):
        with open(os.path.join(self.counters, name)) as file:
            return int(file.read())

    def drops(self):
        return {name: self.counter(name) for name in os.listdir(self.counters)
                if name.startswith("drop_") and self.counter(name)}


def wait_for(condition, what):
    end = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"not within {WAIT_S} s: {what}")
        time.sleep(0.002)
