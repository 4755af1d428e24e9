"""kazoo's Election."""

import itertools
import threading

from kazoo.exceptions import KazooException

import zkverify_kazoo
from zkverify_worker import NotAcquired, WasCancelled

LOOK_EVERY = 0.02  # seconds: contenders can be listed, not watched


class Election(zkverify_kazoo.Client):
    """To lead is to be in the function that Election.run calls."""

    def acquire(self, name, wait, cancelled):
        campaign = Campaign(self.zk, self.path(name), self.identifier())
        cancelled.then(campaign.election.cancel)
        campaign.start()
        campaign.win(wait)
        return campaign

    def release(self, campaign):
        campaign.resign()

    def observe(self, name, cancelled, tell):
        election, last = self.zk.Election(self.path(name)), ["nobody has looked"]
        while not cancelled:
            first = self.zk.retry(election.contenders)[:1]
            if first != last:
                tell()
                last = first
            cancelled.event.wait(LOOK_EVERY)
        raise WasCancelled("cancelled")

    def crash(self):
        with self.mutex:
            campaigns = [lease["lock"] for lease in self.leases.values()]
        super().crash()
        for campaign in campaigns:
            campaign.resigned.set()


class Campaign(threading.Thread):
    """One call of Election.run. It ends when it has failed, or when the leader resigns."""

    numbers = itertools.count(1)

    def __init__(self, zk, path, identifier):
        super().__init__(daemon=True)
        self.identifier = "%s, campaign %d" % (identifier, next(self.numbers))
        self.election = zk.Election(path, self.identifier)
        self.decided, self.resigned = threading.Event(), threading.Event()
        self.won, self.error = False, None

    def run(self):
        try:
            self.election.run(self.lead)
        except Exception as e:
            self.error = e
        self.decided.set()

    def lead(self):
        self.won = True
        self.decided.set()
        self.resigned.wait()

    def win(self, wait):
        """Return when the election is won. kazoo's cannot be tried: whoever does not want
        to wait looks whether another is before him, and withdraws."""
        refused = False
        while not self.decided.wait(None if wait or refused else 0.005):
            if self.is_behind():
                refused = True
                self.election.cancel()
        if self.won:
            return
        if self.error:
            raise self.error
        if refused:
            raise NotAcquired("another client is before this one")
        raise WasCancelled("cancelled")

    def is_behind(self):
        try:
            contenders = self.election.contenders()
        except KazooException:
            return False  # not known
        return self.identifier in contenders[1:]

    def resign(self):
        self.resigned.set()
        self.join()
        if self.error:
            raise self.error
