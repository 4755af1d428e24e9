package zkverify.interop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.BoundedExponentialBackoffRetry;

/**
 * One Curator client and its holds.
 *
 * <p>Curator's locks do not tell a holder that it lost its lock. Curator's documentation tells the
 * user to watch the connection: once it is SUSPENDED, the holder is not known any more. So every
 * hold of the client ends then: "lost" is written with the id of the command that acquired it.
 */
final class Client {
    final CuratorFramework curator;
    /** The recipes that commands have made, by the names they gave them. */
    final Map<String, Object> recipes = new ConcurrentHashMap<>();

    private final String name;
    private final Map<String, Hold> holds = new HashMap<>(); // by lock and worker
    private boolean connected = true;
    private int losses; // counts the times the connection was lost

    /** What one worker believes to hold. */
    private static final class Hold {
        final String id;
        int depth = 1;
        boolean lost;

        Hold(String id) {
            this.id = id;
        }
    }

    Client(String name, String servers, int sessionTimeout) throws InterruptedException {
        this.name = name;
        curator = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .sessionTimeoutMs(sessionTimeout)
                .connectionTimeoutMs(sessionTimeout)
                .retryPolicy(new BoundedExponentialBackoffRetry(20, 200, 10))
                // It would learn the servers' own addresses, and go around the links that lead to them.
                .ensembleTracker(false)
                .build();
        curator.getConnectionStateListenable().addListener((client, state) -> changed(state));
        curator.start();
        curator.blockUntilConnected();
    }

    private synchronized void changed(ConnectionState state) {
        connected = state.isConnected();
        if (!connected) {
            losses++;
            for (Hold hold : holds.values()) {
                lose(hold);
            }
        }
        Out.line("event", "state", "client", name, "state", state);
    }

    private void lose(Hold hold) {
        if (!hold.lost) {
            hold.lost = true;
            Out.line("id", hold.id, "event", "lost");
        }
    }

    /** The number of losses of the connection so far. */
    synchronized int losses() {
        return losses;
    }

    /**
     * Answers a command that has acquired a lock.
     *
     * @param since the number of losses when the lock was granted: it may have been lost again before
     *     its acquire returned
     */
    synchronized void acquired(Command command, String lock, int since, List<Object> more) {
        List<Object> pairs = new ArrayList<>(List.of("id", command.id, "event", "ok", "done", true));
        pairs.addAll(more);
        Out.line(pairs.toArray());
        String key = lock + " " + command.worker;
        Hold hold = holds.get(key);
        if (hold != null) {
            hold.depth++;
            return;
        }
        hold = new Hold(command.id);
        holds.put(key, hold);
        if (!connected || losses != since) {
            lose(hold);
        }
    }

    /** Refuses to re-enter a lock that was lost: Curator would count up and say nothing. */
    synchronized void mayAcquire(Command command, String lock) {
        Hold hold = holds.get(lock + " " + command.worker);
        if (hold != null && hold.lost) {
            throw new IllegalStateException("lost");
        }
    }

    /** Ends a hold, or one level of it, before the release is sent. */
    synchronized void releasing(Command command, String lock) {
        String key = lock + " " + command.worker;
        Hold hold = holds.get(key);
        if (hold != null && --hold.depth == 0) {
            holds.remove(key);
        }
    }
}
