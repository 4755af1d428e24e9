"""kazoo's Lock, ReadLock and WriteLock."""

from kazoo.exceptions import CancelledError

import zkverify_kazoo
from zkverify_worker import NotAcquired, WasCancelled


class Lock(zkverify_kazoo.Client):
    """Each acquire has a Lock of its own: kazoo's is not reentrant, and an owner that asks
    again would wait for itself."""

    def make(self, name):
        return self.zk.Lock(self.path(name), self.identifier())

    def acquire(self, name, wait, cancelled, **asked):
        lock = self.make(name, **asked)
        cancelled.then(lock.cancel)
        try:
            if not lock.acquire(blocking=wait):
                raise NotAcquired("another client holds it")
        except CancelledError:
            raise WasCancelled("cancelled")
        return lock

    def release(self, lock):
        lock.release()


class ReadWrite(Lock):
    def make(self, name, mode):
        of = self.zk.WriteLock if mode == "write" else self.zk.ReadLock
        return of(self.path(name), self.identifier())
