package zkverify.worker;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** The nodes on the servers below the path of a lock that have a mark in their names, in their order. */
final class Queue {
    private final Client client;
    private final String path;
    private final String marker;

    Queue(Client client, String path, String marker) {
        this.client = client;
        this.path = path;
        this.marker = marker;
    }

    /** The number that the servers have given a sequential node. */
    private static int number(String node) {
        return Integer.parseInt(node.substring(node.length() - 10));
    }

    /** The paths of all nodes, the first one's first. */
    List<String> nodes() throws Exception {
        List<String> nodes = new ArrayList<>();
        try {
            for (String name : client.children(path)) {
                if (name.contains(marker)) {
                    nodes.add(path + "/" + name);
                }
            }
        } catch (KeeperException.NoNodeException e) {
            // There is no contender yet.
        }
        nodes.sort(Comparator.comparingInt(Queue::number));
        return nodes;
    }

    /** The stat of a node, null if there is no such node. */
    Stat stat(String node) throws Exception {
        return client.stat(node);
    }

    /** The transaction that created the first node, 0 if there is none. */
    long first() throws Exception {
        for (String node : nodes()) {
            Stat stat = stat(node);
            if (stat != null) {
                return stat.getCzxid();
            }
        }
        return 0;
    }

    /** The path of the node with this data, null if there is none. */
    String withData(String data) throws Exception {
        for (String node : nodes()) {
            try {
                if (data.equals(new String(client.data(node), "UTF-8"))) {
                    return node;
                }
            } catch (KeeperException.NoNodeException e) {
                // It has gone.
            }
        }
        return null;
    }

    /**
     * Returns when a node is gone. Some are deleted in the background, and a client that has released would
     * find its own node in the way of its next acquire.
     */
    void awaitGone(String node) throws Exception {
        while (stat(node) != null) {
            Thread.sleep(10);
        }
    }

    /** Reports the czxid of the first node, each time that the node changes, until it is interrupted. */
    void observe(long command) throws Exception {
        long last = -1;
        while (true) {
            long first = first();
            if (first != last) {
                last = first;
                if (first == 0) {
                    Out.say("event", "observed", "id", command);
                } else {
                    Out.say("event", "observed", "id", command, "token", Out.token(first));
                }
            }
            Thread.sleep(20);
        }
    }
}
