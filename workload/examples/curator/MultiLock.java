package zkverify.worker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;

/**
 * Curator's InterProcessMultiLock of InterProcessMutexes. It locks them in the order in which they were given
 * to it, which its user must choose: here the order of their paths, since opposite orders would wait for each
 * other.
 */
final class MultiLock extends Recipe<CuratorClient> {
    @Override
    Class<?> of() {
        return InterProcessMultiLock.class;
    }

    @Override
    String kind() {
        return "multilock";
    }

    /** The documentation names no order, and no owners that acquire again. Its mutexes are reentrant, see Mutex. */
    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields("tells_loss", polite);
    }

    @Override
    Lease acquire(CuratorClient client, Owner owner, Command command) throws Exception {
        Map<String, ObservedMutex> mutexes = new TreeMap<>();
        List<String> names = command.texts("locks");
        if (names.isEmpty()) {
            String lock = command.text("lock");
            ObservedMutex alone = new ObservedMutex(client.curator, client.path(lock), command.id);
            alone.acquire(command);
            return new Mutex.Level(client, owner, command.id, alone);
        }
        for (String lock : names) {
            mutexes.put(lock, new ObservedMutex(client.curator, client.path(lock), command.id, lock));
        }
        InterProcessMultiLock all = new InterProcessMultiLock(new ArrayList<InterProcessLock>(mutexes.values()));
        int losses = client.losses(); // before: it goes on when it has been granted the first
        if (command.waits()) {
            all.acquire();
        } else if (!all.acquire(0, TimeUnit.MILLISECONDS)) {
            throw Failure.notAcquired();
        }
        return new All(client, owner, command.id, losses, all, names, mutexes);
    }

    private static final class All extends Lease {
        private final InterProcessMultiLock lock;
        private final List<String> names; // as the acquire has them
        private final Map<String, ObservedMutex> mutexes;

        All(Client client, Owner owner, long id, int losses, InterProcessMultiLock lock, List<String> names,
                Map<String, ObservedMutex> mutexes) {
            super(client, owner, id, losses);
            this.lock = lock;
            this.names = names;
            this.mutexes = mutexes;
            node = mutexes.get(names.get(0)).node();
        }

        @Override
        boolean held() {
            return lock.isAcquiredInThisProcess();
        }

        @Override
        void release() throws Exception {
            lock.release();
        }

        /** Acquires one of them. */
        @Override
        Lease again(Command command) throws Exception {
            ObservedMutex mutex = mutexes.get(command.text("lock"));
            if (mutex == null) {
                return super.again(command);
            }
            if (lost()) {
                throw Failure.lost();
            }
            mutex.acquire();
            return new Mutex.Level(client, owner, command.id, mutex);
        }

        @Override
        Map<String, Object> answer() {
            List<Object> tokens = new ArrayList<>();
            for (String name : names) {
                tokens.add(Out.token(mutexes.get(name).node().getCzxid()));
            }
            return Out.fields("session", Out.session(node.getEphemeralOwner()), "tokens", tokens);
        }
    }
}
