package zkverify.worker;

import java.io.IOException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * A client that uses only ZooKeeper's own library. It makes a new handle when its session has expired. A
 * polite one takes all that it holds for lost when it is disconnected: ZooKeeper's guide asks to act
 * conservatively then.
 */
final class PlainClient extends Client {
    final List<ACL> acl;
    private final String scheme;
    private final byte[] secret;
    private Connection.Handle handle; // of the session, null while there is none
    private Connection.Handle latest;
    private Connection.Handle replaced;
    private boolean ended;

    PlainClient(int number, Map<?, ?> env, boolean polite) {
        super(number, env, polite);
        scheme = (String) env.get("scheme");
        secret = scheme == null ? null : Base64.getDecoder().decode((String) env.get("secret"));
        acl = scheme == null ? Ids.OPEN_ACL_UNSAFE : Ids.CREATOR_ALL_ACL;
    }

    @Override
    void open() throws Exception {
        announce();
        connect();
        handle();
    }

    private void connect() throws IOException, InterruptedException {
        Connection.Handle made = connection.newZooKeeper(connection.addresses(), sessionTimeout, event -> {}, false);
        if (scheme != null) {
            made.addAuthInfo(scheme, secret);
        }
        synchronized (this) {
            latest = made;
            if (!ended) {
                return;
            }
        }
        made.close();
    }

    /** The handle of the current session. It waits for one. */
    synchronized Connection.Handle handle() throws Exception {
        while (handle == null) {
            if (ended) {
                throw new Failure("the client has ended", null);
            }
            wait();
        }
        return handle;
    }

    @Override
    protected void told(Connection.Handle told, WatchedEvent event) {
        super.told(told, event);
        if (event.getState() == KeeperState.SyncConnected) {
            synchronized (this) {
                if (told != replaced) {
                    handle = told;
                    notifyAll();
                }
            }
            return;
        }
        if (polite) {
            loseAll();
        }
        if (event.getState() == KeeperState.Expired) {
            replace(told);
        }
    }

    /**
     * Begins a new session in place of a handle's. When a recipe cannot delete a node, only the
     * end of its session deletes it.
     */
    void replace(Connection.Handle old) {
        synchronized (this) {
            if (handle != old || ended) {
                return;
            }
            handle = null;
            replaced = old;
        }
        Thread next = new Thread(() -> {
            try {
                old.close();
                connect();
            } catch (IOException | InterruptedException e) {
                e.printStackTrace();
            }
        }, "next session");
        next.setDaemon(true);
        next.start();
    }

    private synchronized Connection.Handle end() {
        conceal();
        ended = true;
        handle = null;
        notifyAll();
        return latest;
    }

    @Override
    void close() throws InterruptedException {
        Connection.Handle last = end();
        if (last != null) {
            last.close();
        }
    }

    @Override
    void crash() {
        end();
        connection.crash();
    }

    @Override
    long session() throws Exception {
        return handle().getSessionId();
    }

    @Override
    synchronized boolean connected() {
        return handle != null && handle.getState().isConnected();
    }

    private interface Request<T> {
        T send(ZooKeeper zooKeeper) throws KeeperException, InterruptedException;
    }

    /** Sends a request until it is answered. */
    private <T> T answer(Request<T> request) throws Exception {
        while (true) {
            try {
                return request.send(handle());
            } catch (KeeperException.ConnectionLossException | KeeperException.SessionExpiredException e) {
                Thread.sleep(50);
            }
        }
    }

    @Override
    List<String> children(String path) throws Exception {
        return answer(zooKeeper -> zooKeeper.getChildren(path, false));
    }

    @Override
    Stat stat(String path) throws Exception {
        return answer(zooKeeper -> zooKeeper.exists(path, false));
    }

    @Override
    byte[] data(String path) throws Exception {
        return answer(zooKeeper -> zooKeeper.getData(path, false, null));
    }

    /** Creates a persistent node, and its ancestors, unless they exist. */
    void ensure(String path) throws Exception {
        if (stat(path) != null) {
            return;
        }
        int slash = path.lastIndexOf('/');
        if (slash > 0) {
            ensure(path.substring(0, slash));
        }
        try {
            answer(zooKeeper -> zooKeeper.create(path, new byte[0], acl, CreateMode.PERSISTENT));
        } catch (KeeperException.NodeExistsException e) {
            // Another client was first, or the reply to an earlier create was lost.
        }
    }
}
