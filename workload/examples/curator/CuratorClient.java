package zkverify.worker;

import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** A client of Curator. A polite one takes all that it holds for lost when it is SUSPENDED or LOST. */
final class CuratorClient extends Client {
    final CuratorFramework curator;

    CuratorClient(int number, Map<?, ?> env, boolean polite) {
        super(number, env, polite);
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                .connectString(connection.addresses())
                .sessionTimeoutMs(sessionTimeout)
                .connectionTimeoutMs(sessionTimeout)
                .zookeeperFactory(connection::newZooKeeper)
                // Faults may last for long, and Curator does not finish an operation that it gives up.
                .retryPolicy(new RetryForever(50))
                // It would learn the servers' own addresses, and go around the links that lead to them.
                .ensembleTracker(false);
        String scheme = (String) env.get("scheme");
        if (scheme != null) {
            builder.authorization(scheme, Base64.getDecoder().decode((String) env.get("secret")));
            builder.aclProvider(new ACLProvider() {
                @Override
                public List<ACL> getDefaultAcl() {
                    return Ids.CREATOR_ALL_ACL;
                }

                @Override
                public List<ACL> getAclForPath(String path) {
                    return Ids.CREATOR_ALL_ACL;
                }
            });
        }
        curator = builder.build();
        if (polite) {
            curator.getConnectionStateListenable().addListener((client, state) -> {
                if (state == ConnectionState.SUSPENDED || state == ConnectionState.LOST) {
                    loseAll();
                }
            });
        }
    }

    @Override
    void open() throws InterruptedException {
        curator.start();
        announce();
        curator.blockUntilConnected();
    }

    @Override
    void close() {
        conceal();
        curator.close();
    }

    @Override
    void crash() {
        conceal();
        connection.crash();
        Thread end = new Thread(curator::close, "end of a crashed client");
        end.setDaemon(true);
        end.start();
    }

    @Override
    long session() throws Exception {
        return curator.getZookeeperClient().getZooKeeper().getSessionId();
    }

    @Override
    boolean connected() {
        return curator.getZookeeperClient().isConnected();
    }

    @Override
    List<String> children(String path) throws Exception {
        return curator.getChildren().forPath(path);
    }

    @Override
    Stat stat(String path) throws Exception {
        return curator.checkExists().forPath(path);
    }

    @Override
    byte[] data(String path) throws Exception {
        return curator.getData().forPath(path);
    }
}
