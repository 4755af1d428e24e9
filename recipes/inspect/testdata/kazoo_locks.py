"""Takes locks of kazoo's and keeps them until its input ends.

Usage: kazoo_locks.py HOST:PORT,...
"""
import sys
import threading

from kazoo.client import KazooClient


def connect():
    client = KazooClient(hosts=sys.argv[1], timeout=10)
    client.start(timeout=30)
    return client


def behind(acquire, path, count):
    """Begins an acquire, and returns when so many nodes stand in the queue."""
    threading.Thread(target=acquire, daemon=True).start()
    event = threading.Event()
    while not first.exists(path) or len(first.get_children(path)) < count:
        event.wait(0.01)


first, second = connect(), connect()

first.Lock("/kazoo/lock", "one").acquire()
behind(second.Lock("/kazoo/lock", "two").acquire, "/kazoo/lock", 2)

first.ReadLock("/kazoo/rw", "one").acquire()
second.ReadLock("/kazoo/rw", "two").acquire()
behind(first.WriteLock("/kazoo/rw", "three").acquire, "/kazoo/rw", 3)

first.Semaphore("/kazoo/pool", "one", max_leases=2).acquire()
second.Semaphore("/kazoo/pool", "two", max_leases=2).acquire()
behind(first.Semaphore("/kazoo/pool", "three", max_leases=2).acquire, "/kazoo/pool-__lock__", 1)

behind(first.DoubleBarrier("/kazoo/barrier", 2, "one").enter, "/kazoo/barrier", 1)

print("ready", flush=True)
sys.stdin.read()
