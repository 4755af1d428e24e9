package zkverify.worker;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CreateBuilder;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.PredicateResults;
import org.apache.curator.framework.recipes.locks.StandardLockInternalsDriver;
import org.apache.zookeeper.data.Stat;

/** An InterProcessMutex that reports its place in the queue, through the hook that Curator has for custom drivers. */
final class ObservedMutex extends InterProcessMutex {
    private final Place place;

    ObservedMutex(CuratorFramework curator, String path, long acquire) {
        this(curator, path, acquire, null);
    }

    /** @param lock its name, if the acquire is one of several locks */
    ObservedMutex(CuratorFramework curator, String path, long acquire, String lock) {
        this(curator, path, new Place(acquire, lock));
    }

    private ObservedMutex(CuratorFramework curator, String path, Place place) {
        super(curator, path, place);
        this.place = place;
    }

    void acquire(Command command) throws Exception {
        if (command.waits()) {
            acquire();
        } else if (!acquire(0, TimeUnit.MILLISECONDS)) {
            throw Failure.notAcquired();
        }
    }

    /** The node of the latest acquire. */
    Stat node() {
        return place.node;
    }

    /** Passes on the answers of Curator's own driver. */
    private static final class Place extends StandardLockInternalsDriver {
        private final long acquire;
        private final String lock;
        private boolean told;
        volatile Stat node;

        Place(long acquire, String lock) {
            this.acquire = acquire;
            this.lock = lock;
        }

        @Override
        public String createsTheLock(CuratorFramework curator, String prefix, byte[] data) throws Exception {
            Stat created = new Stat();
            String path = super.createsTheLock(storing(curator, created), prefix, data);
            told = false;
            node = created;
            if (created.getCzxid() == 0) { // it was found on the servers, after the answer had been lost
                try {
                    node = curator.checkExists().forPath(path);
                } catch (Exception e) {
                    curator.delete().guaranteed().inBackground().forPath(path);
                    throw e;
                }
            }
            return path;
        }

        /** The same client, whose creates store the node's stat: it need not be asked for. */
        private static CuratorFramework storing(CuratorFramework curator, Stat stat) {
            InvocationHandler passes = (proxy, method, arguments) -> {
                Object result;
                try {
                    result = method.invoke(curator, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
                if (result instanceof CreateBuilder) {
                    ((CreateBuilder) result).storingStatIn(stat);
                }
                return result;
            };
            return (CuratorFramework) Proxy.newProxyInstance(
                    CuratorFramework.class.getClassLoader(), new Class<?>[] {CuratorFramework.class}, passes);
        }

        @Override
        public PredicateResults getsTheLock(CuratorFramework curator, List<String> children, String name, int leases) throws Exception {
            PredicateResults result = super.getsTheLock(curator, children, name, leases);
            if (!told && node != null) {
                told = true;
                Map<String, Object> place = Out.fields("event", "enqueued", "id", acquire,
                        "session", Out.session(node.getEphemeralOwner()), "token", Out.token(node.getCzxid()), "position", children.indexOf(name));
                if (lock != null) {
                    place.put("lock", lock);
                }
                Out.say(place);
            }
            return result;
        }
    }
}
