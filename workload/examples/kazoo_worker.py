#!/usr/bin/env python3
"""A worker process that hosts kazoo's Lock, for zkverify run --worker-command.

docs/worker.md has the protocol. This is how a lock in another language is put
through faults: what a client of it does, and when it says that it lost its lock,
is as kazoo's documentation tells its users to do it.
"""

import base64
import json
import logging
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import CancelledError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.security import CREATOR_ALL_ACL

PROMISES = {"tokens": False, "tells_loss": True, "fifo": False, "reentrant": False, "loss_bound": 2_000_000_000}


class NotAcquired(Exception):
    """Another holds the lock."""


class Lost(Exception):
    """The lease was lost before; nothing of it is left."""


class Out:
    """Standard output: lines in the order of their times."""

    def __init__(self):
        self.mutex = threading.Lock()

    def say(self, **line):
        with self.mutex:
            line["at"] = time.monotonic_ns()
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()


class Handler(SequentialThreadingHandler):
    """kazoo's sockets, which can be taken away as a crash does."""

    def __init__(self):
        super().__init__()
        self.mutex, self.socket, self.linked, self.torn = threading.Lock(), None, None, False

    def create_connection(self, address, *args, **kwargs):
        if self.torn:
            raise OSError("crashed")
        sock = super().create_connection(address, *args, **kwargs)
        with self.mutex:
            if self.torn:
                sock.close()
                raise OSError("crashed")
            self.socket, self.linked = sock, address
        return sock

    def tear(self):
        with self.mutex:
            self.torn = True
            try:
                if self.socket:
                    self.socket.shutdown(2)
            except OSError:
                pass  # closed already


class Lease:
    def __init__(self, number, lock):
        self.number, self.lock, self.lost = number, lock, False


class Client:
    def __init__(self, out, number, env):
        self.out, self.number, self.env = out, number, env
        self.servers = {}
        for server in env["servers"]:
            host, port = server["addr"].rsplit(":", 1)
            self.servers[(host, int(port))] = server["id"]
        credentials = {}
        if "scheme" in env:
            secret = base64.b64decode(env["secret"]).decode()
            credentials = {"auth_data": [(env["scheme"], secret)], "default_acl": CREATOR_ALL_ACL}
        self.handler = Handler()
        self.zk = KazooClient(
            hosts=",".join(s["addr"] for s in env["servers"]), timeout=env["session_timeout"] / 1000,
            randomize_hosts=False, handler=self.handler,
            connection_retry={"max_tries": -1, "delay": 0.05, "max_delay": 0.5}, **credentials)
        self.mutex = threading.RLock()
        self.leases = {}
        self.changed = threading.Event()
        self.ended = False
        self.zk.add_listener(self.on_state)

    def open(self):
        self.zk.start(timeout=25)
        self.tell_session()
        # Ends with the client.
        threading.Thread(target=self.keep_presence, daemon=True).start()

    def session(self):
        return "0x%016x" % (self.zk.client_id[0] % (1 << 64)) if self.zk.client_id else ""

    def tell_session(self):
        if not self.session():
            return
        line = {"event": "session", "client": self.number, "session": self.session(),
                "password": base64.b64encode(self.zk.client_id[1]).decode(),
                "session_timeout": self.env["session_timeout"]}
        if self.zk.state == KazooState.CONNECTED and self.handler.linked in self.servers:
            line["server"] = self.servers[self.handler.linked]
        self.out.say(**line)

    def on_state(self, state):
        # kazoo's documentation: when the connection is suspended nobody can be sure
        # any more that he holds his locks.
        if state != KazooState.CONNECTED:
            with self.mutex:
                for lease in self.leases.values():
                    if not lease.lost:
                        lease.lost = True
                        self.out.say(event="lost", lease=lease.number)
        self.tell_session()
        self.changed.set()

    def keep_presence(self):
        """Each session keeps a node, by which the run sees when the session ends."""
        last = ""
        while not self.ended:
            now = self.session()
            if self.zk.connected and now != last:
                try:
                    node = self.env["presence"] + "/" + now
                    if not self.zk.exists(node):
                        self.zk.create(node, ephemeral=True)
                    stat = self.zk.exists(node)
                    if stat and stat.owner_session_id == int(now, 16):
                        self.out.say(event="presence", client=self.number, session=now, czxid=stat.czxid)
                        last = now
                        continue
                except Exception:
                    pass  # the link is down: again when it is back
            self.changed.wait(0.05)
            self.changed.clear()

    def acquire(self, number, name, wait, cancelled):
        lock = self.zk.Lock(self.env["root"] + "/" + name, "client %d" % self.number)
        cancelled.then(lock.cancel)
        if not lock.acquire(blocking=wait):
            raise NotAcquired("another holds it")
        with self.mutex:
            if self.zk.state == KazooState.CONNECTED:
                self.leases[number] = Lease(number, lock)
                return {"session": self.session()}
        lock.release()
        raise ConnectionError("the link was lost before the lock could be used")

    def valid(self, number):
        with self.mutex:
            return number in self.leases and not self.leases[number].lost

    def release(self, number):
        with self.mutex:
            lease = self.leases.pop(number)
        lease.lock.release()
        if lease.lost:
            raise Lost("lost before it was released")

    def crash(self):
        self.ended = True
        self.handler.tear()
        with self.mutex:
            self.leases.clear()
        # Without a network it says good-bye to nobody.
        threading.Thread(target=self.zk.stop, daemon=True).start()

    def close(self):
        self.ended = True
        self.zk.stop()
        self.zk.close()


class Cancelled:
    """Whether a command was cancelled, and what to do then."""

    def __init__(self):
        self.mutex, self.yes, self.do = threading.Lock(), False, None

    def then(self, do):
        with self.mutex:
            self.do = do
            if self.yes:
                do()

    def cancel(self):
        with self.mutex:
            self.yes = True
            if self.do:
                self.do()


class Worker:
    def __init__(self):
        self.out, self.clients, self.commands = Out(), {}, {}
        self.pool = ThreadPoolExecutor(max_workers=64)

    def run(self):
        self.out.say(event="hello", protocol=1, hosts={
            "name": "kazoo-lock", "description": "kazoo's Lock; a suspended connection is taken for a loss",
            "recipes": ["mutex"], "promises": PROMISES})
        for text in sys.stdin:
            command = json.loads(text)
            if command["do"] == "cancel":
                of = self.commands.get(command["of"])
                if of:
                    of.cancel()
                continue
            self.commands[command["id"]] = cancelled = Cancelled()
            self.pool.submit(self.carry_out, command, cancelled)
        os._exit(0)  # nobody listens any more

    def carry_out(self, command, cancelled):
        try:
            answer = self.do(command, cancelled)
        except NotAcquired as e:
            answer = {"error": str(e), "why": "not-acquired"}
        except Lost as e:
            answer = {"error": str(e), "why": "lost"}
        except CancelledError:
            answer = {"error": "cancelled", "why": "cancelled"}
        except Exception as e:
            answer = {"error": "%s: %s" % (type(e).__name__, e)}
        del self.commands[command["id"]]
        self.out.say(id=command["id"], **(answer or {}))

    def do(self, command, cancelled):
        do, number = command["do"], command["client"]
        if do == "echo":
            return None
        if do == "census":
            return {"stacks": []}
        if do == "open":
            client = Client(self.out, number, command["env"])
            try:
                client.open()
            except Exception:
                client.crash()
                raise
            self.clients[number] = client
            return {"offers": ["mutex"]}
        if do in ("crash", "close"):
            client = self.clients.pop(number)
            return client.crash() if do == "crash" else client.close()
        client = self.clients[number]
        if do in ("acquire", "try-acquire"):
            return client.acquire(command["id"], command["lock"], do == "acquire", cancelled)
        if do == "valid":
            return {"valid": True} if client.valid(command["lease"]) else None
        if do == "release":
            return client.release(command["lease"])
        raise NotImplementedError(do)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # its disconnects are ours
    Worker().run()
