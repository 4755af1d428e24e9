#!/usr/bin/env python3
"""A worker process that hosts kazoo's Lock, for zkverify run --worker-command.

This is how a lock in Python is put through faults. What a client does, and when it
says that it lost its lock, is as kazoo's documentation tells its users to do it.
"""

from kazoo.client import KazooState
from kazoo.exceptions import CancelledError

import zkverify_kazoo
from zkverify_worker import NotAcquired, WasCancelled, main


class Client(zkverify_kazoo.Client):
    def acquire(self, name, wait, cancelled):
        lock = self.zk.Lock(self.path(name), "client %d" % self.number)
        cancelled.then(lock.cancel)
        try:
            if not lock.acquire(blocking=wait):
                raise NotAcquired("another client holds it")
        except CancelledError:
            raise WasCancelled("cancelled")
        return lock

    def release(self, lock):
        lock.release()

    def state_changed(self, state):
        # When the connection is suspended nobody can be sure any more that he holds
        # his locks.
        if state != KazooState.CONNECTED:
            self.lose()


if __name__ == "__main__":
    main(Client, "kazoo-lock", "kazoo's Lock; a suspended connection is taken for a loss",
         {"tells_loss": True, "loss_bound": 2_000_000_000})
