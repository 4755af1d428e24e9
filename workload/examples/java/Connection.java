package zkverify.worker;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.HostProvider;

/**
 * Makes the ZooKeeper handles of one client, one for each session. They use the servers in the order of the
 * run, and can be taken away as a crash does.
 */
final class Connection {
    private final List<InetSocketAddress> servers = new ArrayList<>();
    private final Map<Integer, Long> ids = new HashMap<>(); // of servers, by their ports here
    private final BiConsumer<Handle, WatchedEvent> told;
    private Handle latest;
    private boolean crashed;

    /** @param told is called with the events of a handle's link, before the handle's watcher */
    Connection(List<?> servers, BiConsumer<Handle, WatchedEvent> told) {
        this.told = told;
        for (Object each : servers) {
            Map<?, ?> server = (Map<?, ?>) each;
            String addr = (String) server.get("addr");
            int colon = addr.lastIndexOf(':');
            int port = Integer.parseInt(addr.substring(colon + 1));
            this.servers.add(new InetSocketAddress(addr.substring(0, colon), port));
            ids.put(port, (Long) server.get("id"));
        }
    }

    String addresses() {
        List<String> all = new ArrayList<>();
        for (InetSocketAddress server : servers) {
            all.add(server.getHostString() + ":" + server.getPort());
        }
        return String.join(",", all);
    }

    /** One session, and its links. */
    final class Handle extends ZooKeeper {
        Handle(String servers, int timeout, Watcher watcher, boolean readOnly, HostProvider hosts) throws IOException {
            super(servers, timeout, watcher, readOnly, hosts);
        }

        /** The id of the server that it is linked to, 0 for none. */
        long server() {
            SocketAddress remote = testableRemoteSocketAddress();
            return remote instanceof InetSocketAddress ? ids.getOrDefault(((InetSocketAddress) remote).getPort(), 0L) : 0;
        }

        /** Ends its threads and closes its socket; the session is left to expire. */
        void tear() {
            cnxn.disconnect();
        }
    }

    Handle newZooKeeper(String connectString, int timeout, Watcher watcher, boolean readOnly) throws IOException {
        synchronized (this) {
            if (crashed) {
                throw new IOException("crashed");
            }
            Handle[] self = new Handle[1];
            latest = new Handle(connectString, timeout, event -> {
                if (event.getType() == Watcher.Event.EventType.None) {
                    synchronized (Connection.this) { // not before there is a handle
                        told.accept(self[0], event);
                    }
                }
                watcher.process(event);
            }, readOnly, new InOrder());
            self[0] = latest;
            return latest;
        }
    }

    void crash() {
        Handle torn;
        synchronized (this) {
            crashed = true;
            torn = latest;
        }
        if (torn != null) {
            torn.tear();
        }
    }

    /** The servers, one after the other. ZooKeeper's own provider shuffles them. */
    private final class InOrder implements HostProvider {
        private int next;
        private int tried; // since the last link

        @Override
        public int size() {
            return servers.size();
        }

        @Override
        public InetSocketAddress next(long delay) {
            synchronized (this) {
                if (tried < servers.size()) {
                    tried++;
                    return servers.get(next++ % servers.size());
                }
                tried = 1;
            }
            if (delay > 0) {
                try {
                    Thread.sleep(delay);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            synchronized (this) {
                return servers.get(next++ % servers.size());
            }
        }

        @Override
        public synchronized void onConnected() {
            tried = 0;
        }

        @Override
        public boolean updateServerList(Collection<InetSocketAddress> changed, InetSocketAddress current) {
            return false;
        }
    }
}
