import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryOneTime;

/** Locker takes a mutex and a semaphore in turn, prints its holds, and ends while it holds the mutex. */
public final class Locker {
    public static void main(String[] args) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(args[0], 4000, 4000, new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
        InterProcessMutex mutex = new InterProcessMutex(client, "/mutex");
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, "/semaphore", 2);
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            mutex.acquire();
            long from = System.currentTimeMillis();
            TimeUnit.MILLISECONDS.sleep(3);
            held(client, "/mutex", from);
            mutex.release();
            Lease lease = semaphore.acquire();
            from = System.currentTimeMillis();
            TimeUnit.MILLISECONDS.sleep(3);
            held(client, "/semaphore", from);
            semaphore.returnLease(lease);
        }
        mutex.acquire();
        System.out.printf("end %d%n", client.getZookeeperClient().getZooKeeper().getSessionId());
        Runtime.getRuntime().halt(0);
    }

    private static void held(CuratorFramework client, String lock, long from) throws Exception {
        System.out.printf("%s %d %d %d%n", lock, client.getZookeeperClient().getZooKeeper().getSessionId(), from, System.currentTimeMillis());
    }
}
