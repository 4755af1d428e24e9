package zkverify.worker;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.zookeeper.data.Stat;

/**
 * Curator's InterProcessSemaphoreMutex. An owner that acquires it again waits for itself, until that is
 * cancelled.
 */
final class SemaphoreMutex extends Recipe<CuratorClient> {
    @Override
    Class<?> of() {
        return InterProcessSemaphoreMutex.class;
    }

    @Override
    String kind() {
        return "nonreentrant";
    }

    /** It is documented not to be reentrant. The documentation names no order. */
    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields("tells_loss", polite);
    }

    @Override
    Lease acquire(CuratorClient client, Owner owner, Command command) throws Exception {
        String path = client.path(command.text("lock"));
        InterProcessSemaphoreMutex mutex = new InterProcessSemaphoreMutex(client.curator, path);
        int losses = client.losses(); // before: it has requests to make after it was granted
        if (command.waits()) {
            mutex.acquire();
        } else if (!mutex.acquire(0, TimeUnit.MILLISECONDS)) {
            throw Failure.notAcquired();
        }
        return new Held(client, owner, command.id, losses, mutex).at(() -> nodeOf(client, path));
    }

    /** The lease's node in the client's session. Other nodes are those of clients that wait. */
    private static Stat nodeOf(CuratorClient client, String path) throws Exception {
        long session = client.session();
        for (String node : new Queue(client, path + "/leases", "lease-").nodes()) {
            Stat stat = client.stat(node);
            if (stat != null && stat.getEphemeralOwner() == session) {
                return stat;
            }
        }
        return null;
    }

    private static final class Held extends Lease {
        private final InterProcessSemaphoreMutex mutex;

        Held(Client client, Owner owner, long id, int losses, InterProcessSemaphoreMutex mutex) {
            super(client, owner, id, losses);
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
            int losses = client.losses();
            mutex.acquire();
            return new Held(client, owner, command.id, losses, mutex);
        }
    }
}
