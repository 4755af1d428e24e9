package zkverify.worker;

import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.data.Stat;

/**
 * A client of a library, with its leases.
 *
 * <p>A polite one does as the documentation asks of users: when its connection is gone, it takes all that it
 * holds for lost. A careless one never looks.
 */
abstract class Client {
    final int number;
    final boolean polite;
    protected final Connection connection;
    protected final int sessionTimeout; // ms

    private final Presence presence;
    private final String root;
    private final Map<?, ?> locks;
    private final Map<Long, Lease> leases = new HashMap<>(); // by the number of their acquire
    private int losses;

    Client(int number, Map<?, ?> env, boolean polite) {
        this.number = number;
        this.polite = polite;
        root = (String) env.get("root");
        locks = (Map<?, ?>) env.get("locks");
        sessionTimeout = ((Long) env.get("session_timeout")).intValue();
        presence = new Presence(number, (String) env.get("presence"), env.get("scheme") != null);
        connection = new Connection((List<?>) env.get("servers"), this::told);
    }

    /** Returns once there is a session. */
    abstract void open() throws Exception;

    abstract void close() throws Exception;

    /** Ends the client without a request to the servers. */
    abstract void crash();

    /** The current session. */
    abstract long session() throws Exception;

    abstract boolean connected();

    /** The names of the nodes below one, however long the servers take to answer. */
    abstract List<String> children(String path) throws Exception;

    /** The stat of a node, null if there is no such node. */
    abstract Stat stat(String path) throws Exception;

    abstract byte[] data(String path) throws Exception;

    /** Begins to create the nodes that show the run its sessions. */
    protected void announce() {
        Thread keeper = new Thread(presence, "presence");
        keeper.setDaemon(true);
        keeper.start();
    }

    protected void conceal() {
        presence.end();
    }

    String path(String lock) {
        return root + "/" + lock;
    }

    /** The size of a lock that has one. */
    int size(String lock) {
        return ((Long) ((Map<?, ?>) locks.get(lock)).get("size")).intValue();
    }

    /** Reports a session or a link that has come or gone. */
    protected void told(Connection.Handle handle, WatchedEvent event) {
        long session = handle.getSessionId();
        if (session == 0) {
            return;
        }
        Map<String, Object> line = Out.fields("event", "session", "client", number, "session", Out.session(session),
                "password", Base64.getEncoder().encodeToString(handle.getSessionPasswd()),
                "session_timeout", handle.getSessionTimeout());
        switch (event.getState()) {
            case SyncConnected:
                line.put("server", handle.server());
                presence.of(handle);
                break;
            case Disconnected:
                break;
            default:
                return; // its end is nothing that a session can be told of
        }
        Out.say(line);
    }

    synchronized void keep(Lease lease) {
        leases.put(lease.id, lease);
    }

    synchronized Lease lease(long id) throws Failure {
        Lease lease = leases.get(id);
        if (lease == null) {
            throw new Failure("there is no lease " + id, null);
        }
        return lease;
    }

    synchronized void forget(Lease lease) {
        leases.remove(lease.id);
    }

    /** The number of times that a polite client has taken all its leases for lost. */
    synchronized int losses() {
        return losses;
    }

    protected synchronized void loseAll() {
        losses++;
        for (Lease lease : leases.values()) {
            lease.lose();
        }
    }
}
