"""The protocol of docs/worker.md, for workers in Python.

A worker is a class of clients, and a call of main:

    class MyClient(zkverify_worker.Client):
        def open(self, cancelled): ...
        def connected(self): ...
        def acquire(self, name, wait, cancelled): ...
        def release(self, lock): ...
        def close(self): ...
        def crash(self): ...

    zkverify_worker.main(MyClient, "my-lock", "a lock of mine", {"tells_loss": True})

Recipes other than a mutex have more, or other methods: see Client. With kazoo,
zkverify_kazoo.Client has all but those of the recipe. zkverify worker check says what a
worker does wrong.
"""

import json
import os
import sys
import threading
import time


class Failure(Exception):
    """An error of a command, with a reason that the run understands."""

    why = None


class NotAcquired(Failure):
    """A try found another in the way."""

    why = "not-acquired"


class Lost(Failure):
    """The lease was lost before it was released."""

    why = "lost"


class WasCancelled(Failure):
    """The command was cancelled."""

    why = "cancelled"


class Out:
    """What the worker says: lines in the order of their times."""

    def __init__(self):
        # The output of libraries must not come between the lines.
        self.file, self.mutex = os.fdopen(os.dup(1), "w"), threading.Lock()
        sys.stdout = sys.stderr

    def say(self, **line):
        with self.mutex:
            line["at"] = time.monotonic_ns()
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()


class Cancelled:
    """Whether a command was cancelled, and what to do then."""

    def __init__(self):
        self.mutex, self.event, self.do = threading.Lock(), threading.Event(), None

    def then(self, do):
        """Have do called when the command is cancelled: now, if it was."""
        with self.mutex:
            self.do = do
            if self.event.is_set():
                do()

    def cancel(self):
        with self.mutex:
            self.event.set()
            if self.do:
                self.do()

    def __bool__(self):
        return self.event.is_set()


class Client:
    """A client of the lock. Subclasses have the methods that the module names:
    acquire returns what release takes, or raises NotAcquired if it was not to wait.

    readwrite      acquire(name, wait, cancelled, mode), "read" or "write"; release
    semaphore      acquire(name, wait, cancelled, permits); release
    election       acquire and release; observe(name, cancelled, tell) calls tell() when
                   another leads, or nobody does any more, until it is cancelled
    barrier        set, remove and wait(name, cancelled)
    doublebarrier  enter(name, cancelled) returns what leave(member, cancelled) takes
    """

    polite = True  # it gives up what it has got when its link is down already

    def __init__(self, out, number, env):
        self.out, self.number, self.env = out, number, env
        self.mutex = threading.RLock()
        self.leases = {}  # by the number of their acquire: the lock, and whether it is lost
        self.members = {}  # by the number of their enter

    def path(self, name):
        """Where a lock lives."""
        return self.env["root"] + "/" + name

    def tell(self, event, **line):
        """Say something of this client."""
        self.out.say(event=event, client=self.number, **line)

    def lose(self):
        """Tell that exclusivity of all that is held is no longer guaranteed."""
        with self.mutex:
            for number, lease in self.leases.items():
                if not lease["lost"]:
                    lease["lost"] = True
                    self.out.say(event="lost", lease=number)


class Worker:
    def __init__(self, client, hosts):
        self.out, self.make, self.hosts = Out(), client, hosts
        self.mutex, self.clients, self.commands = threading.Lock(), {}, {}

    def run(self):
        self.out.say(event="hello", protocol=1, hosts=self.hosts)
        for text in sys.stdin:
            try:
                command = json.loads(text)
            except ValueError as e:
                sys.stderr.write("cannot read the command %r: %s\n" % (text, e))
                os._exit(1)
            if command["do"] == "cancel":
                with self.mutex:
                    of = self.commands.get(command["of"])
                if of is not None:  # else it has been answered
                    of.cancel()
                continue
            cancelled = Cancelled()
            with self.mutex:
                self.commands[command["id"]] = cancelled
            # Ends when it is answered.
            threading.Thread(target=self.carry_out, args=(command, cancelled), daemon=True).start()
        os._exit(0)  # nobody listens any more

    def carry_out(self, command, cancelled):
        try:
            answer = self.do(command, cancelled) or {}
        except Exception as e:
            answer = {"error": "%s: %s" % (type(e).__name__, e)}
            why = getattr(e, "why", None) or ("cancelled" if cancelled else None)
            if why:
                answer["why"] = why
        with self.mutex:
            del self.commands[command["id"]]
        self.out.say(id=command["id"], **answer)

    def do(self, command, cancelled):
        do, number = command["do"], command["client"]
        if do == "echo":
            return None
        if do == "census":
            return {"stacks": []}
        if do == "open":
            client = self.make(self.out, number, command["env"])
            try:
                client.open(cancelled)
            except Exception:
                client.crash()
                raise
            with self.mutex:
                self.clients[number] = client
            return {"offers": self.hosts["recipes"]}
        with self.mutex:
            client = self.clients.get(number)
            if do in ("close", "crash"):
                self.clients.pop(number, None)
        if client is None:
            raise Failure("client %d is not open" % number)
        carry_out = getattr(self, "do_" + do.replace("-", "_"), None)
        if carry_out is None:
            raise Failure("unknown command %r" % do)
        return carry_out(client, command, cancelled)

    def do_close(self, client, command, cancelled):
        client.close()

    def do_crash(self, client, command, cancelled):
        client.crash()

    def do_acquire(self, client, command, cancelled):
        asked = {field: command[field] for field in ("mode", "permits") if field in command}
        lock = client.acquire(command["lock"], command["do"] == "acquire", cancelled, **asked)
        with client.mutex:
            if not client.polite or client.connected():
                client.leases[command["id"]] = {"lock": lock, "lost": False}
                return {"session": client.session()}
        client.release(lock)
        raise Failure("the link was lost before the lock could be used")

    do_try_acquire = do_acquire

    def do_valid(self, client, command, cancelled):
        with client.mutex:
            lease = client.leases.get(command["lease"])
        if lease is None:
            raise Failure("there is no lease %d" % command["lease"])
        return None if lease["lost"] else {"valid": True}

    def do_release(self, client, command, cancelled):
        with client.mutex:
            lease = client.leases.pop(command["lease"], None)
        if lease is None:
            raise Failure("there is no lease %d" % command["lease"])
        client.release(lease["lock"])
        if lease["lost"]:
            raise Lost("lost before it was released")

    def do_observe(self, client, command, cancelled):
        client.observe(command["lock"], cancelled, lambda: self.out.say(event="observed", id=command["id"]))

    def do_set(self, client, command, cancelled):
        client.set(command["lock"], cancelled)

    def do_remove(self, client, command, cancelled):
        client.remove(command["lock"], cancelled)

    def do_wait(self, client, command, cancelled):
        client.wait(command["lock"], cancelled)

    def do_enter(self, client, command, cancelled):
        client.members[command["id"]] = client.enter(command["lock"], cancelled)

    def do_leave(self, client, command, cancelled):
        member = client.members.pop(command["lease"], None)
        if member is None:
            raise Failure("there is no member %d" % command["lease"])
        client.leave(member, cancelled)


def main(client, name, description, promises, recipes=("mutex",)):
    """Host clients of a lock until the input ends. promises are the fields of
    histories.Promises, times in nanoseconds."""
    Worker(client, {"name": name, "description": description, "recipes": list(recipes), "promises": promises}).run()
