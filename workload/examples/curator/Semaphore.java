package zkverify.worker;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;

/** Curator's InterProcessSemaphoreV2 with a number of leases that all processes know. */
final class Semaphore extends Recipe<CuratorClient> {
    @Override
    Class<?> of() {
        return InterProcessSemaphoreV2.class;
    }

    @Override
    String kind() {
        return "semaphore";
    }

    /** It is documented to be "mostly fair", which no checker can judge. */
    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields("tells_loss", polite);
    }

    @Override
    Lease acquire(CuratorClient client, Owner owner, Command command) throws Exception {
        String lock = command.text("lock");
        String path = client.path(lock);
        return acquire(client, owner, command, new InterProcessSemaphoreV2(client.curator, path, client.size(lock)), path);
    }

    /** Acquires the permits of a command from any semaphore. */
    static Lease acquire(CuratorClient client, Owner owner, Command command, InterProcessSemaphoreV2 semaphore, String path)
            throws Exception {
        int permits = (int) command.number("permits");
        int losses = client.losses(); // before: it has requests to make after it was granted
        var leases = command.waits() ? semaphore.acquire(permits) : semaphore.acquire(permits, 0, TimeUnit.MILLISECONDS);
        if (leases == null) {
            throw Failure.notAcquired();
        }
        String node = path + "/leases/" + leases.iterator().next().getNodeName();
        return new Permits(client, owner, command.id, losses, leases).at(() -> client.stat(node));
    }
}
