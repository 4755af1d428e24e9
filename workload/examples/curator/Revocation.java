package zkverify.worker;

import java.util.Map;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.zookeeper.data.Stat;

/** Curator's InterProcessMutex when it is made revocable, and its Revoker. */
final class Revocation extends Recipe<CuratorClient> {
    @Override
    Class<?> of() {
        return Revoker.class;
    }

    @Override
    String kind() {
        return "revocation";
    }

    /** See Mutex. A listener is documented to be called when another process wants the lock to be released. */
    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields("tells_loss", polite, "fifo", true, "reentrant", true);
    }

    @Override
    Lease acquire(CuratorClient client, Owner owner, Command command) throws Exception {
        ObservedMutex mutex = new ObservedMutex(client.curator, client.path(command.text("lock")), command.id);
        Requests requests = new Requests(command.id);
        mutex.makeRevocable(revoked -> requests.come()); // before the acquire, which sets the watch
        mutex.acquire(command);
        return new Mutex.Level(client, owner, command.id, mutex) {
            @Override
            void listen() {
                requests.listen();
            }
        };
    }

    @Override
    Map<String, Object> operate(CuratorClient client, Command command) throws Exception {
        switch (command.what) {
            case "holder":
                InterProcessMutex mutex = new InterProcessMutex(client.curator, client.path(command.text("lock")));
                for (String node : mutex.getParticipantNodes()) {
                    Stat stat = client.stat(node);
                    if (stat != null) {
                        return Out.fields("token", Out.token(stat.getCzxid()), "node", node);
                    }
                }
                throw new Failure("nobody holds it", "not-held");
            case "revoke":
                Revoker.attemptRevoke(client.curator, command.text("node"));
                return Out.fields();
            default:
                return super.operate(client, command);
        }
    }

    /** Requests to release one lease, which may come before the holder listens. */
    private static final class Requests {
        private final long lease;
        private boolean listened;
        private boolean came;

        Requests(long lease) {
            this.lease = lease;
        }

        synchronized void come() {
            came = true;
            tell();
        }

        synchronized void listen() {
            listened = true;
            if (came) {
                tell();
            }
        }

        private void tell() {
            if (listened) {
                Out.say("event", "revoke-requested", "lease", lease);
            }
        }
    }
}
