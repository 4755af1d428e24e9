"""kazoo's Semaphore."""

from kazoo.exceptions import CancelledError

import zkverify_kazoo
from zkverify_worker import Failure, NotAcquired, WasCancelled


class Semaphore(zkverify_kazoo.Client):
    """Each acquire has a Semaphore of its own. Its cancel does not reach an acquire that
    waits behind another one's: that is answered when its turn comes."""

    def acquire(self, name, wait, cancelled, permits):
        if permits != 1:
            raise Failure("kazoo's Semaphore has no way to get %d leases or none" % permits)
        size = self.env["locks"][name]["size"]
        semaphore = self.zk.Semaphore(self.path(name), self.identifier(), max_leases=size)
        if cancelled:  # acquire forgets a cancel that came before it
            raise WasCancelled("cancelled")
        cancelled.then(semaphore.cancel)
        try:
            if not semaphore.acquire(blocking=wait):
                raise NotAcquired("no lease is free, or another client is asking for one")
        except CancelledError:
            raise WasCancelled("cancelled")
        return semaphore

    def release(self, semaphore):
        semaphore.release()
