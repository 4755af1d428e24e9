package zkverify.worker;

import java.util.Map;

/** Hosts the recipes of Apache Curator. curator_worker has the usage. */
public final class CuratorWorker implements Library<CuratorClient> {
    public static void main(String[] args) throws Exception {
        Worker.serve(new CuratorWorker(), args);
    }

    @Override
    public String name() {
        return "curator" + Library.version();
    }

    @Override
    public String title() {
        return "Apache Curator";
    }

    @Override
    public String manners() {
        return "a holder stops at SUSPENDED, as documented";
    }

    @Override
    public CuratorClient client(int number, Map<?, ?> env, boolean polite) {
        return new CuratorClient(number, env, polite);
    }

    @Override
    public Recipe<CuratorClient> recipe(String name) {
        switch (name) {
            case "latch":
                return new Latch();
            case "selector":
                return new Selector();
            case "mutex":
                return new Mutex();
            case "nonreentrant":
                return new SemaphoreMutex();
            case "readwrite":
                return new ReadWrite();
            case "multilock":
                return new MultiLock();
            case "semaphore":
                return new Semaphore();
            case "sharedsemaphore":
                return new SharedSemaphore();
            case "revocation":
                return new Revocation();
            case "barrier":
                return new Barrier();
            case "doublebarrier":
                return new DoubleBarrier();
            default:
                throw new IllegalArgumentException("unknown recipe " + name);
        }
    }
}
