"""Drives kazoo's locks; see process.go for what it is told and answers."""

import gc
import os
import queue
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.version import __version__

SESSION_TIMEOUT = 10.0  # seconds


class Work:
    """What to do, from words of the form name=value."""

    def __init__(self, words):
        pairs = dict(word.split("=", 1) for word in words)
        self.kind = pairs["kind"]
        self.path = pairs["path"]
        self.servers = pairs["servers"].split(",")
        self.sessions = int(pairs["sessions"])
        self.contenders = int(pairs["contenders"])
        self.cycles = int(pairs["cycles"])
        self.permits = int(pairs["permits"])
        self.hold = int(pairs["hold"]) / 1e6


class Run:
    """The contenders of one work, a thread each."""

    def __init__(self, work, lock):
        self.work = work
        self.failure = None
        self.inside = 0
        self.mutex = threading.Lock()
        self.line = threading.Barrier(work.contenders + 1)
        self.threads = [
            threading.Thread(target=self.contend, args=(lock(work, i),), daemon=True)
            for i in range(work.contenders)
        ]

    def stand(self):
        for thread in self.threads:
            thread.start()

    def start(self):
        self.line.wait()

    def contend(self, lock):
        try:
            self.line.wait()
            for _ in range(self.work.cycles):
                if self.failure is not None:
                    return
                lock.acquire()
                self.enter()
                if self.work.hold:
                    time.sleep(self.work.hold)
                self.leave()
                lock.release()
        except BaseException as e:
            self.failure = self.failure or e

    def enter(self):
        """Notices a lock that lets in more than it may."""
        with self.mutex:
            self.inside += 1
            if self.inside > 1:
                raise RuntimeError("the mutex let in more than it may")

    def leave(self):
        with self.mutex:
            self.inside -= 1

    def wait(self):
        for thread in self.threads:
            # Others wait for ever for one that has failed with the lock.
            while thread.is_alive() and self.failure is None:
                thread.join(0.1)
        if self.failure is not None:
            raise self.failure


class Driver:
    def __init__(self):
        self.sessions = {}
        self.parked = None

    def session(self, work, contender):
        number = contender % work.sessions
        server = work.servers[number % len(work.servers)]
        client = self.sessions.get((number, server))
        if client is None:
            client = KazooClient(hosts=server, timeout=SESSION_TIMEOUT)
            client.start(timeout=SESSION_TIMEOUT)
            self.sessions[number, server] = client
        return client

    def lock(self, work, contender):
        """One contender's lock object."""
        client = self.session(work, contender)
        if work.kind == "mutex":
            return client.Lock(work.path)
        raise ValueError("no lock of kind " + work.kind)

    def run(self, work):
        first = self.lock(work, 0)
        first.acquire()
        first.release()
        run = Run(work, self.lock)
        run.stand()
        gc.collect()
        begin = time.perf_counter_ns()
        run.start()
        run.wait()
        return time.perf_counter_ns() - begin

    def park(self, work):
        self.holder = self.lock(work, 0)
        self.holder.acquire()
        self.parked = Run(work, self.lock)
        self.parked.stand()
        self.parked.start()
        return 0

    def unpark(self):
        self.holder.release()
        self.parked.wait()
        return 0

    def disconnect(self):
        for client in self.sessions.values():
            client.stop()
            client.close()
        self.sessions.clear()
        return 0

    def answer(self, command):
        try:
            name, *words = command.split()
            if name == "run":
                return "ok %d" % self.run(Work(words))
            if name == "park":
                return "ok %d" % self.park(Work(words))
            if name == "unpark":
                return "ok %d" % self.unpark()
            if name == "disconnect":
                return "ok %d" % self.disconnect()
            return "error no such command: " + name
        except BaseException as e:
            return "error " + repr(e).replace("\n", " ")


def main():
    commands = queue.Queue()

    def obey():
        driver = Driver()
        while True:
            print(driver.answer(commands.get()), flush=True)

    threading.Thread(target=obey, daemon=True).start()
    print("ready %s, Python %s" % (__version__, sys.version.split()[0]), flush=True)
    for line in sys.stdin:
        commands.put(line)
    os._exit(0)  # whatever the worker does: its master is gone


main()
