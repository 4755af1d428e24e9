package zkverify.worker;

import java.util.Map;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.shared.SharedCount;

/**
 * Curator's InterProcessSemaphoreV2 whose number of leases is a SharedCount. Each acquire starts a count of
 * its own, and closes it, so that none has an old value.
 */
final class SharedSemaphore extends Recipe<CuratorClient> {
    @Override
    Class<?> of() {
        return SharedCount.class;
    }

    @Override
    String kind() {
        return "sharedsemaphore";
    }

    /** See Semaphore. */
    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields("tells_loss", polite);
    }

    @Override
    Lease acquire(CuratorClient client, Owner owner, Command command) throws Exception {
        String lock = command.text("lock");
        String path = client.path(lock);
        try (SharedCount count = count(client, lock)) {
            count.start();
            return Semaphore.acquire(client, owner, command, new InterProcessSemaphoreV2(client.curator, path, count), path);
        }
    }

    @Override
    Map<String, Object> operate(CuratorClient client, Command command) throws Exception {
        if (!command.what.equals("set-size")) {
            return super.operate(client, command);
        }
        try (SharedCount count = count(client, command.text("lock"))) {
            count.start();
            count.setCount((int) command.number("size"));
        }
        return Out.fields();
    }

    private static SharedCount count(CuratorClient client, String lock) {
        return new SharedCount(client.curator, client.path(lock) + "/count", client.size(lock));
    }
}
