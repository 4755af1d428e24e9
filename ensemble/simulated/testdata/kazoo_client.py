"""What kazoo does on the servers named by its argument; it fails with the first surprise."""
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError
from kazoo.security import make_digest_acl

WAIT = 20  # seconds; what must happen happens far earlier


def expect(what, got, want):
    if got != want:
        sys.exit(f"{what}: got {got!r}, want {want!r}")


def client():
    c = KazooClient(hosts=sys.argv[1], timeout=4)
    c.start()
    return c


a, b = client(), client()
expect("the version", a.server_version(), (3, 8, 0))

a.ensure_path("/k/x")
a.set("/k/x", b"one")
changed = threading.Event()
b.sync("/k/x")
expect("the data", b.get("/k/x", watch=lambda event: changed.set())[0], b"one")
a.set("/k/x", b"two")
expect("the watch of the data", changed.wait(WAIT), True)

failing = a.transaction()
failing.create("/k/y")
failing.check("/k/x", 99)
expect("a transaction whose check fails", [type(r).__name__ for r in failing.commit()], ["RolledBackError", "BadVersionError"])
good = a.transaction()
good.create("/k/y")
good.set_data("/k/x", b"three")
expect("a transaction", good.commit()[0], "/k/y")
expect("the children", sorted(a.get_children("/k")), ["x", "y"])

first, second = a.Lock("/lock", "a"), b.Lock("/lock", "b")
first.acquire()
expect("a lock that is held", second.acquire(blocking=False), False)
granted = threading.Event()
waiter = threading.Thread(target=lambda: (second.acquire(), granted.set()))
waiter.start()
first.release()
expect("the lock is handed on", granted.wait(WAIT), True)
waiter.join()

for held in (a.ReadLock("/rw", "a"), a.Semaphore("/semaphore", max_leases=2)):
    held.acquire()
    held.release()
counter = a.Counter("/counter")
counter += 2
expect("the counter", counter.value, 2)

a.add_auth("digest", "user:password")
a.create("/secret", b"s", acl=[make_digest_acl("user", "password", all=True)])
try:
    b.get("/secret")
    sys.exit("a node of somebody else's is read")
except NoAuthError:
    pass
expect("a node that is one's own", a.get("/secret")[0], b"s")

a.stop()
b.stop()
