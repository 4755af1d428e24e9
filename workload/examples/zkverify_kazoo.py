"""Clients of locks on kazoo, for workers in Python: all but the lock itself."""

import base64
import logging
import os
import sys
import threading

try:
    from kazoo.version import __version__
except ImportError:
    debian = "/usr/bin/python3"  # for which Debian's package is, whichever comes first in the PATH
    if os.path.exists(debian) and os.path.realpath(sys.executable) != os.path.realpath(debian):
        os.execv(debian, [debian, "-B"] + sys.argv)
    sys.stderr.write("kazoo is missing: install Debian's python3-kazoo, or kazoo for %s\n" % sys.executable)
    sys.exit(69)

from kazoo.client import KazooClient, KazooState
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.security import CREATOR_ALL_ACL

import zkverify_worker

logging.disable(logging.CRITICAL)  # kazoo's disconnects are ours


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


class Client(zkverify_worker.Client):
    """A client with a connection, zk. Subclasses have the methods of a recipe.

    kazoo's documentation asks of its users that they listen to the state of the
    connection: when it is suspended nobody can be sure any more that he holds his locks.
    A polite client does so. A careless one never looks."""

    @classmethod
    def promises(cls):
        """What kazoo claims: it tells of the state. No recipe is said to be fair, or to
        have tokens."""
        return {"tells_loss": cls.polite}

    def __init__(self, out, number, env):
        super().__init__(out, number, env)
        self.servers = {}
        for server in env["servers"]:
            host, port = server["addr"].rsplit(":", 1)
            self.servers[(host, int(port))] = server["id"]
        credentials = {}
        if "scheme" in env:
            secret = base64.b64decode(env["secret"]).decode()
            credentials = {"auth_data": [(env["scheme"], secret)], "default_acl": CREATOR_ALL_ACL}
        self.handler, self.changed, self.ended = Handler(), threading.Event(), False
        self.zk = KazooClient(
            hosts=",".join(s["addr"] for s in env["servers"]), timeout=env["session_timeout"] / 1000,
            randomize_hosts=False, handler=self.handler,
            connection_retry={"max_tries": -1, "delay": 0.05, "max_delay": 0.5}, **credentials)
        self.zk.add_listener(self.on_state)

    def open(self, cancelled):
        connected = self.zk.start_async()
        while not connected.wait(0.05):
            if cancelled:
                raise zkverify_worker.WasCancelled("cancelled before there was a session")
        self.tell_session()
        # Ends with the client.
        threading.Thread(target=self.keep_presence, daemon=True).start()

    def connected(self):
        return self.zk.state == KazooState.CONNECTED

    def session(self):
        return "0x%016x" % (self.zk.client_id[0] % (1 << 64)) if self.zk.client_id else ""

    def identifier(self):
        """What kazoo's recipes show to others."""
        return "client %d" % self.number

    def state_changed(self, state):
        """It is called by kazoo's thread."""
        if self.polite and state != KazooState.CONNECTED:
            self.lose()

    def on_state(self, state):
        self.state_changed(state)
        self.tell_session()
        self.changed.set()

    def tell_session(self):
        if not self.session():
            return
        line = {"session": self.session(), "password": base64.b64encode(self.zk.client_id[1]).decode(),
                "session_timeout": self.env["session_timeout"]}
        if self.connected() and self.handler.linked in self.servers:
            line["server"] = self.servers[self.handler.linked]
        self.tell("session", **line)

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
                    if stat and stat.owner_session_id % (1 << 64) == int(now, 16):
                        self.tell("presence", session=now, czxid=stat.czxid)
                        last = now
                        continue
                    if stat:  # made in the session that came after: it must not stand for this one
                        self.zk.delete(node)
                except Exception:
                    pass  # the link is down: again when it is back
            self.changed.wait(0.05)
            self.changed.clear()

    def crash(self):
        self.ended = True
        self.handler.tear()
        with self.mutex:
            self.leases.clear()
        # Without a network no close request reaches a server.
        threading.Thread(target=self.zk.stop, daemon=True).start()

    def close(self):
        self.ended = True
        self.zk.stop()
        self.zk.close()
