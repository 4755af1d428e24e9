package zkverify.worker;

import java.util.Map;

/** Hosts the recipes that ZooKeeper itself ships. zookeeper_worker has the usage. */
public final class ZooKeeperWorker implements Library<PlainClient> {
    public static void main(String[] args) throws Exception {
        Worker.serve(new ZooKeeperWorker(), args);
    }

    @Override
    public String name() {
        return "zookeeper" + Library.version();
    }

    @Override
    public String title() {
        return "Apache ZooKeeper's recipes";
    }

    @Override
    public String manners() {
        return "a holder stops when it is disconnected, as ZooKeeper's guide asks";
    }

    @Override
    public PlainClient client(int number, Map<?, ?> env, boolean polite) {
        return new PlainClient(number, env, polite);
    }

    @Override
    public Recipe<PlainClient> recipe(String name) {
        switch (name) {
            case "lock":
                return new Lock();
            case "election":
                return new Election();
            default:
                throw new IllegalArgumentException("unknown recipe " + name);
        }
    }
}
