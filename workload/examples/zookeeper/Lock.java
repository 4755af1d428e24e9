package zkverify.worker;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;

/**
 * ZooKeeper's WriteLock. Each acquire has a lock of its own. When its lock() does not get it, the acquire
 * waits for the listener, as documented. It does not notify its holder of a loss: the connection does, see
 * PlainClient.
 */
final class Lock extends Recipe<PlainClient> {
    @Override
    Class<?> of() {
        return WriteLock.class;
    }

    @Override
    String kind() {
        return "mutex";
    }

    /** The documentation promises exclusion, and nothing else. */
    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields("tells_loss", polite);
    }

    @Override
    Lease acquire(PlainClient client, Owner owner, Command command) throws Exception {
        String path = client.path(command.text("lock"));
        client.ensure(path.substring(0, path.lastIndexOf('/'))); // it makes the last one itself
        Connection.Handle session = client.handle();
        CountDownLatch acquired = new CountDownLatch(1);
        WriteLock lock = new WriteLock(session, path, client.acl, new LockListener() {
            @Override
            public void lockAcquired() {
                acquired.countDown();
            }

            @Override
            public void lockReleased() {}
        });
        try {
            if (!lock.lock() && !command.waits()) {
                throw Failure.notAcquired();
            }
            while (!acquired.await(20, TimeUnit.MILLISECONDS)) {
                command.check(); // lock() may have taken the interrupt for its own
                if (!session.getState().isAlive()) {
                    throw new Failure("the session has ended", null);
                }
            }
            Held held = new Held(client, owner, command.id, session, lock);
            held.node = client.stat(lock.getId());
            return held;
        } catch (Exception e) {
            boolean interrupted = Thread.interrupted();
            try {
                unlock(client, session, lock);
            } catch (RuntimeException stays) {
                e.addSuppressed(stays);
            }
            throw interrupted ? new InterruptedException(e.getMessage()) : e;
        }
    }

    /**
     * Unlocks, and closes the lock at once: a watch that the lock has left would make it create another
     * node. A node that it cannot delete ends with its session.
     */
    private static void unlock(PlainClient client, Connection.Handle session, WriteLock lock) {
        synchronized (lock) {
            try {
                lock.unlock();
            } catch (RuntimeException e) {
                client.replace(session);
                throw e;
            } finally {
                lock.close();
            }
        }
    }

    private static final class Held extends Lease {
        private final PlainClient client;
        private final Connection.Handle session;
        private final WriteLock lock;

        Held(PlainClient client, Owner owner, long id, Connection.Handle session, WriteLock lock) {
            super(client, owner, id);
            this.client = client;
            this.session = session;
            this.lock = lock;
        }

        @Override
        boolean held() {
            return lock.isOwner();
        }

        @Override
        void release() {
            unlock(client, session, lock);
        }
    }
}
