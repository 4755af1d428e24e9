#!/usr/bin/env python3
"""A worker process that hosts a lock of your own, for zkverify run --worker-command.

It hosts the lock of kazoo_lock.py, kazoo's: put yours in its place there. A lock that does
not use kazoo is a class of clients like those of zkverify_kazoo.py.
"""

import zkverify_kazoo  # first: it looks for a Python that has kazoo

from kazoo_lock import Lock
from zkverify_worker import main

if __name__ == "__main__":
    main(Lock, "my-lock", "kazoo's Lock, as an example of a lock of your own", Lock.promises())
