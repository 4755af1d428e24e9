package zkverify.worker;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.zookeeper.data.Stat;

/**
 * Curator's InterProcessReadWriteLock. Each acquire has a lock of its own, whose nodes have data of their
 * own: they are found by that data. A reader that asks for the write lock waits until that is cancelled.
 */
final class ReadWrite extends Recipe<CuratorClient> {
    @Override
    Class<?> of() {
        return InterProcessReadWriteLock.class;
    }

    @Override
    String kind() {
        return "readwrite";
    }

    /** It is documented to be reentrant, and fair: users get it in the order of their requests. */
    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields("tells_loss", polite, "fifo", true, "reentrant", true);
    }

    @Override
    Lease acquire(CuratorClient client, Owner owner, Command command) throws Exception {
        Owned owned = new Owned(client, client.path(command.text("lock")));
        InterProcessMutex mutex = owned.mutex(command);
        try (Places places = new Places(client, owned.path, owned.data, marker(command), command.id)) {
            if (command.waits()) {
                mutex.acquire();
            } else if (!mutex.acquire(0, TimeUnit.MILLISECONDS)) {
                throw Failure.notAcquired();
            }
            return new Level(client, owner, command.id, owned, mutex).at(places::found);
        }
    }

    private static boolean writes(Command command) {
        return command.text("mode").equals("write");
    }

    private static String marker(Command command) {
        return writes(command) ? "__WRIT__" : "__READ__";
    }

    /** The lock of one owner, in both modes. */
    private static final class Owned {
        final String path;
        final String data = UUID.randomUUID().toString();
        private final InterProcessReadWriteLock lock;

        Owned(CuratorClient client, String path) {
            this.path = path;
            lock = new InterProcessReadWriteLock(client.curator, path, data.getBytes(StandardCharsets.UTF_8));
        }

        InterProcessMutex mutex(Command command) {
            return writes(command) ? lock.writeLock() : lock.readLock();
        }

        /** The lease in the mode of a command, null if its node has gone again. */
        Stat node(Client client, Command command) throws Exception {
            Queue queue = new Queue(client, path, marker(command));
            String node = queue.withData(data);
            return node == null ? null : queue.stat(node);
        }
    }

    /** One level of the lock in one mode. */
    private static final class Level extends Lease {
        private final Owned owned;
        private final InterProcessMutex mutex;

        Level(Client client, Owner owner, long id, Owned owned, InterProcessMutex mutex) {
            super(client, owner, id);
            this.owned = owned;
            this.mutex = mutex;
        }

        @Override
        boolean held() {
            return mutex.isAcquiredInThisProcess();
        }

        @Override
        void release() throws Exception {
            mutex.release();
        }

        @Override
        Lease again(Command command) throws Exception {
            if (lost()) {
                throw Failure.lost();
            }
            InterProcessMutex asked = owned.mutex(command);
            asked.acquire();
            return new Level(client, owner, command.id, owned, asked).at(() -> owned.node(client, command));
        }
    }
}
