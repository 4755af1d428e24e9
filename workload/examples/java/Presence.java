package zkverify.worker;

import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** Creates the node of each session that shows the run when the session ends. */
final class Presence implements Runnable {
    private final int client;
    private final String folder;
    private final List<ACL> acl;
    private Connection.Handle wanted;
    private boolean ended;

    Presence(int client, String folder, boolean authenticated) {
        this.client = client;
        this.folder = folder;
        acl = authenticated ? Ids.CREATOR_ALL_ACL : Ids.OPEN_ACL_UNSAFE;
    }

    /** Asks for the node of a session that has begun. */
    synchronized void of(Connection.Handle session) {
        wanted = session;
        notifyAll();
    }

    synchronized void end() {
        ended = true;
        notifyAll();
    }

    @Override
    public void run() {
        Connection.Handle done = null;
        while (true) {
            Connection.Handle session;
            synchronized (this) {
                while (!ended && wanted == done) {
                    pause(0);
                }
                if (ended) {
                    return;
                }
                session = wanted;
            }
            if (made(session)) {
                done = session;
            } else {
                synchronized (this) {
                    pause(50);
                }
            }
        }
    }

    private void pause(long ms) {
        try {
            wait(ms);
        } catch (InterruptedException e) {
            ended = true;
        }
    }

    /** Creates the node, through the session's own handle. It returns false if that must be tried again. */
    private boolean made(Connection.Handle session) {
        String name = Out.session(session.getSessionId());
        String node = folder + "/" + name;
        try {
            try {
                session.create(node, new byte[0], acl, CreateMode.EPHEMERAL);
            } catch (KeeperException.NodeExistsException e) {
                // The reply to an earlier create was lost.
            }
            Stat stat = session.exists(node, false);
            if (stat == null) {
                return false;
            }
            Out.say("event", "presence", "client", client, "session", name, "czxid", stat.getCzxid());
            return true;
        } catch (KeeperException.SessionExpiredException e) {
            return true; // there is nothing to see of it any more
        } catch (KeeperException | InterruptedException e) {
            return false;
        }
    }
}
