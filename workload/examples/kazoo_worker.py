#!/usr/bin/env python3
"""A worker process that hosts one of kazoo's recipes, for zkverify run --worker-command.

This is how a lock in Python is put through faults. What a client does, and when it
says that it lost its lock, is as kazoo's documentation tells its users to do it.
"""

import argparse

import zkverify_kazoo  # first: it looks for a Python that has kazoo

from kazoo_barrier import Barrier, DoubleBarrier
from kazoo_election import Election
from kazoo_lock import Lock, ReadWrite
from kazoo_semaphore import Semaphore
from zkverify_worker import main

# By the name that is given: the clients, the recipe of the run, and the name of the lock.
HOSTED = {
    "lock": (Lock, "mutex", "kazoo's Lock"),
    "readwrite": (ReadWrite, "readwrite", "kazoo's ReadLock and WriteLock"),
    "semaphore": (Semaphore, "semaphore", "kazoo's Semaphore, one lease at a time"),
    "barrier": (Barrier, "barrier", "kazoo's Barrier"),
    "doublebarrier": (DoubleBarrier, "doublebarrier", "kazoo's DoubleBarrier"),
    "election": (Election, "election", "kazoo's Election"),
}


def arguments():
    parser = argparse.ArgumentParser(
        description="A worker for zkverify run --worker-command that hosts clients of kazoo.",
        epilog="\n".join("%-14s %s, for --recipe %s" % (name, what, recipe) for name, (_, recipe, what) in HOSTED.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", default="lock", choices=HOSTED, help="what is hosted, see below; default lock")
    manner = parser.add_mutually_exclusive_group()
    manner.add_argument("--polite", dest="polite", action="store_true", default=True,
                        help="a client stops when its state is not CONNECTED, as kazoo's documentation asks; the default")
    manner.add_argument("--careless", dest="polite", action="store_false", help="a client never looks at its state")
    return parser.parse_args()


if __name__ == "__main__":
    asked = arguments()
    client, recipe, what = HOSTED[asked.name]
    client.polite = asked.polite
    main(client, "kazoo-%s-%s%s" % (zkverify_kazoo.__version__, asked.name, "" if asked.polite else "-careless"),
         what + ("" if asked.polite else "; nobody looks at the state of the connection"),
         client.promises(), [recipe])
