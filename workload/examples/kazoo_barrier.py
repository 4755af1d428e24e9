"""kazoo's Barrier and DoubleBarrier."""

import threading

from kazoo.client import KazooState
from kazoo.exceptions import CancelledError
from kazoo.recipe import barrier

import zkverify_kazoo
from zkverify_worker import Failure


class Waiting:
    """kazoo's client as one of its barriers sees it. What the barrier waits for can be
    ended: kazoo's barriers cannot be cancelled, and never hear that the connection was
    lost, with which their watches are gone."""

    def __init__(self, zk):
        self.zk, self.handler = zk, self
        self.mutex, self.events, self.why = threading.Lock(), [], None

    def __getattr__(self, name):
        return getattr(self.zk, name)

    def event_object(self):
        event = Event(self)
        with self.mutex:
            self.events.append(event)
            if self.why:
                event.set()
        return event

    def end(self, why):
        with self.mutex:
            self.why = self.why or why
            for event in self.events:
                event.set()


class Event(threading.Event):
    def __init__(self, of):
        super().__init__()
        self.of = of

    def wait(self, timeout=None):
        came = super().wait(timeout)
        if self.of.why:
            raise CancelledError(self.of.why)
        return came


class Client(zkverify_kazoo.Client):
    def __init__(self, *args):
        super().__init__(*args)
        self.waiting = set()  # what waits, or is in a barrier

    @classmethod
    def promises(cls):
        return {}

    def watch_over(self, cancelled):
        """What is to be ended by a cancel, and by the end of the client."""
        waiting = Waiting(self.zk)
        with self.mutex:
            self.waiting.add(waiting)
        cancelled.then(lambda: waiting.end("cancelled"))
        return waiting

    def forget(self, waiting):
        with self.mutex:
            self.waiting.discard(waiting)

    def end_all(self, why):
        with self.mutex:
            for waiting in self.waiting:
                waiting.end(why)

    def close(self):
        self.end_all("closed")
        super().close()

    def crash(self):
        super().crash()
        self.end_all("crashed")


class Barrier(Client):
    """wait is documented not to handle the loss of the connection: a polite client gives
    up then."""

    def set(self, name, cancelled):
        self.zk.Barrier(self.path(name)).create()

    def remove(self, name, cancelled):
        self.zk.Barrier(self.path(name)).remove()

    def wait(self, name, cancelled):
        waiting = self.watch_over(cancelled)
        try:
            barrier.Barrier(waiting, self.path(name)).wait()
        finally:
            self.forget(waiting)

    def state_changed(self, state):
        if self.polite and state != KazooState.CONNECTED:
            self.end_all("the connection is " + state)


class DoubleBarrier(Client):
    """It is documented to handle the loss of the connection, but not the end of the
    session: a polite client takes that for the end of its membership."""

    def enter(self, name, cancelled):
        waiting = self.watch_over(cancelled)
        member = barrier.DoubleBarrier(waiting, self.path(name), self.env["locks"][name]["size"], self.identifier())
        try:
            member.enter()  # it raises nothing when it fails
        finally:
            if not member.participating:
                self.forget(waiting)
        if not member.participating:
            raise Failure(waiting.why or "kazoo has given up entering")
        return member

    def leave(self, member, cancelled):
        waiting = member.client
        cancelled.then(lambda: waiting.end("cancelled"))
        try:
            member.leave()  # it raises nothing when it fails
        finally:
            self.forget(waiting)
        if waiting.why:
            raise Failure(waiting.why)

    def state_changed(self, state):
        if self.polite and state == KazooState.LOST:
            self.end_all("the session is lost")
