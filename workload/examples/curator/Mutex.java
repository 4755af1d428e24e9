package zkverify.worker;

import java.util.Map;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Curator's InterProcessMutex. It does not notify its holder of a loss: the connection does, see CuratorClient. */
final class Mutex extends Recipe<CuratorClient> {
    @Override
    Class<?> of() {
        return InterProcessMutex.class;
    }

    @Override
    String kind() {
        return "mutex";
    }

    /** It is documented to be reentrant, and fair: users get it in the order of their requests. */
    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields("tells_loss", polite, "fifo", true, "reentrant", true);
    }

    @Override
    Lease acquire(CuratorClient client, Owner owner, Command command) throws Exception {
        ObservedMutex mutex = new ObservedMutex(client.curator, client.path(command.text("lock")), command.id);
        mutex.acquire(command);
        return new Level(client, owner, command.id, mutex);
    }

    /** One level of a mutex that is held: the outermost, or that of a re-entry. */
    static class Level extends Lease {
        private final ObservedMutex mutex;

        Level(Client client, Owner owner, long id, ObservedMutex mutex) {
            super(client, owner, id);
            this.mutex = mutex;
            node = mutex.node();
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
                throw Failure.lost(); // Curator would count up and say nothing
            }
            mutex.acquire();
            return new Level(client, owner, command.id, mutex);
        }
    }
}
