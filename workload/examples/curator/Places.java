package zkverify.worker;

import java.util.List;
import org.apache.zookeeper.data.Stat;

/**
 * Reports the place in the queue of an acquire whose library does not name its node: looks for it on
 * the servers, by its data, while the acquire goes on.
 */
final class Places implements AutoCloseable {
    private final String data;
    private final long acquire;
    private final Queue mine; // those in the mode of the acquire
    private final Queue all;
    private final Thread looking = new Thread(this::look, "place");
    private long told; // the transaction that created the node whose place was reported

    Places(Client client, String path, String data, String marker, long acquire) {
        this.data = data;
        this.acquire = acquire;
        mine = new Queue(client, path, marker);
        all = new Queue(client, path, "__");
        looking.setDaemon(true);
        looking.start();
    }

    private void look() {
        try {
            while (tell() == null) {
                Thread.sleep(5);
            }
        } catch (Exception e) {
            // The acquire is over, or the client.
        }
    }

    /** Finds the node, and reports its place unless it has. It returns null if there is none. */
    private synchronized Stat tell() throws Exception {
        String node = mine.withData(data);
        Stat stat = node == null ? null : mine.stat(node);
        if (stat == null) {
            return null;
        }
        List<String> nodes = all.nodes();
        if (told != stat.getCzxid()) {
            told = stat.getCzxid();
            Out.say("event", "enqueued", "id", acquire, "session", Out.session(stat.getEphemeralOwner()),
                    "token", Out.token(stat.getCzxid()), "position", Math.max(0, nodes.indexOf(node)));
        }
        return stat;
    }

    /** Returns the node of an acquire that has been granted, null if it has gone again. */
    Stat found() throws Exception {
        close();
        return tell();
    }

    /** No place is reported from now on. */
    @Override
    public void close() {
        boolean interrupted = Thread.interrupted();
        while (looking.isAlive()) {
            looking.interrupt();
            try {
                looking.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
