package zkverify.interop;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.PredicateResults;
import org.apache.curator.framework.recipes.locks.StandardLockInternalsDriver;
import org.apache.zookeeper.data.Stat;

/**
 * An InterProcessMutex that tells of its place in the queue, through the hook that Curator has for
 * custom drivers. It decides nothing: what Curator's own driver answers is passed on.
 */
final class ObservedMutex extends InterProcessMutex {
    private final Observer observer;

    private ObservedMutex(CuratorFramework curator, String path, Observer observer) {
        super(curator, path, observer);
        this.observer = observer;
    }

    static ObservedMutex at(Client client, String path) {
        return new ObservedMutex(client.curator, path, new Observer(client));
    }

    /** The place of this thread's acquire, once it has one. */
    Place place() {
        return observer.place.get();
    }

    /** Assigns the places of this thread from now on to the acquire of a command. */
    void begin(Command command) {
        observer.place.set(new Place(command.id));
    }

    /** A contender's node, and the state of the client when it was granted the lock. */
    static final class Place {
        final String id;
        long zxid;
        long session;
        boolean told;
        int losses;

        Place(String id) {
            this.id = id;
        }
    }

    private static final class Observer extends StandardLockInternalsDriver {
        private final Client client;
        final ThreadLocal<Place> place = new ThreadLocal<>();

        Observer(Client client) {
            this.client = client;
        }

        @Override
        public String createsTheLock(CuratorFramework curator, String path, byte[] data) throws Exception {
            String node = super.createsTheLock(curator, path, data);
            Place mine = place.get();
            mine.told = false;
            mine.zxid = 0;
            try {
                Stat stat = curator.checkExists().forPath(node);
                if (stat != null) {
                    mine.zxid = stat.getCzxid();
                    mine.session = stat.getEphemeralOwner();
                }
            } catch (Exception e) {
                // A place that cannot be told is given up.
                curator.delete().guaranteed().forPath(node);
                throw e;
            }
            return node;
        }

        @Override
        public PredicateResults getsTheLock(CuratorFramework curator, List<String> children, String node, int maxLeases)
                throws Exception {
            Place mine = place.get();
            int losses = client.losses();
            PredicateResults result = super.getsTheLock(curator, children, node, maxLeases);
            if (!mine.told && mine.zxid != 0) {
                mine.told = true;
                Out.line("id", mine.id, "event", "enqueued", "zxid", mine.zxid, "ahead", children.indexOf(node));
            }
            if (result.getsTheLock()) {
                mine.losses = losses;
            }
            return result;
        }
    }
}
