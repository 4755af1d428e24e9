package zkverify.interop;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.utils.ZKPaths;

/**
 * The commands of the peer. A verb is followed by the name of a client and by
 *
 * <pre>
 * open SERVERS TIMEOUT            a new client; the timeout of its session in ms
 * close                           the client, in good order
 *
 * mutex NAME PATH                 recipes, called NAME from then on
 * observed-mutex NAME PATH        a mutex that reports its places: event "enqueued"
 * multi-lock NAME PATH ANOTHER
 * read-write NAME PATH [DATA]     two locks, NAME/read and NAME/write
 * semaphore-mutex NAME PATH
 * semaphore NAME PATH SIZE [DATA]
 * count NAME PATH INITIAL
 * shared-semaphore NAME PATH COUNT
 * barrier NAME PATH
 * double-barrier NAME PATH MEMBERS
 * latch NAME PATH ID              a candidate of an election by LeaderLatch
 * selector NAME PATH ID           by LeaderSelector
 *
 * acquire NAME [WAIT]             a lock; done says whether it got it within the wait, in ms
 * release NAME
 * is-acquired NAME                done is the result of isAcquiredInThisProcess
 * acquire-permits NAME N [WAIT]
 * return-permits NAME ID          those that command ID acquired
 * participants NAME [PATH]        nodes and their data; of a semaphore, with its path
 * revocable NAME                  requests to revoke come as the event "revoke", with the name
 * revoke NODE
 * get-count NAME
 * set-count NAME N
 * set-barrier NAME
 * remove-barrier NAME
 * wait-barrier NAME [WAIT]
 * enter NAME [WAIT]
 * leave NAME [WAIT]
 * campaign NAME [WAIT]            done says whether it leads
 * leads NAME                      done is the result of hasLeadership
 * resign NAME
 * leader NAME                     its id, as data
 * candidates NAME                 their ids, as data
 * </pre>
 */
final class Verbs {
    private final Map<String, Client> clients = new ConcurrentHashMap<>();
    private final Map<String, Collection<Lease>> permits = new ConcurrentHashMap<>(); // by the id of their acquire

    void carryOut(Command c) throws Exception {
        Client client = clients.get(c.client);
        switch (c.verb) {
            case "open":
                clients.put(c.client, new Client(c.client, c.word(0), c.number(1)));
                break;
            case "close":
                clients.remove(c.client).curator.close();
                break;
            case "mutex":
            case "observed-mutex":
            case "multi-lock":
            case "read-write":
            case "semaphore-mutex":
            case "semaphore":
            case "count":
            case "shared-semaphore":
            case "barrier":
            case "double-barrier":
            case "latch":
            case "selector":
                make(c, client);
                break;
            case "acquire":
                acquire(c, client);
                return;
            case "release":
                client.releasing(c, c.word(0));
                recipe(InterProcessLock.class, c, client).release();
                break;
            case "is-acquired":
                done(c, recipe(InterProcessLock.class, c, client).isAcquiredInThisProcess());
                return;
            case "acquire-permits": {
                Collection<Lease> got = recipe(InterProcessSemaphoreV2.class, c, client).acquire(c.number(1), c.wait(2), c.unit(2));
                if (got != null) {
                    permits.put(c.id, got);
                }
                Out.line("id", c.id, "event", "ok", "done", got != null);
                return;
            }
            case "return-permits":
                recipe(InterProcessSemaphoreV2.class, c, client).returnAll(permits.remove(c.word(1)));
                break;
            case "participants":
                participants(c, client);
                return;
            case "revocable": {
                String name = c.word(0);
                recipe(InterProcessMutex.class, c, client).makeRevocable(lock -> Out.line("event", "revoke", "client", c.client, "lock", name));
                break;
            }
            case "revoke":
                Revoker.attemptRevoke(client.curator, c.word(0));
                break;
            case "get-count":
                Out.line("id", c.id, "event", "ok", "value", recipe(SharedCount.class, c, client).getCount());
                return;
            case "set-count":
                recipe(SharedCount.class, c, client).setCount(c.number(1));
                break;
            case "set-barrier":
                recipe(DistributedBarrier.class, c, client).setBarrier();
                break;
            case "remove-barrier":
                recipe(DistributedBarrier.class, c, client).removeBarrier();
                break;
            case "wait-barrier":
                done(c, recipe(DistributedBarrier.class, c, client).waitOnBarrier(c.wait(1), c.unit(1)));
                return;
            case "enter":
                done(c, recipe(DistributedDoubleBarrier.class, c, client).enter(c.wait(1), c.unit(1)));
                return;
            case "leave":
                done(c, recipe(DistributedDoubleBarrier.class, c, client).leave(c.wait(1), c.unit(1)));
                return;
            case "campaign":
                done(c, recipe(Candidate.class, c, client).campaign(c.wait(1)));
                return;
            case "leads":
                done(c, recipe(Candidate.class, c, client).leads());
                return;
            case "resign":
                recipe(Candidate.class, c, client).resign();
                break;
            case "leader":
                Out.line("id", c.id, "event", "ok", "data", List.of(recipe(Candidate.class, c, client).leader()));
                return;
            case "candidates":
                Out.line("id", c.id, "event", "ok", "data", recipe(Candidate.class, c, client).ids());
                return;
            default:
                throw new IllegalArgumentException("unknown verb " + c.verb);
        }
        Out.line("id", c.id, "event", "ok");
    }

    private static void make(Command c, Client client) throws Exception {
        String name = c.word(0);
        String path = c.word(1);
        switch (c.verb) {
            case "mutex":
                client.recipes.put(name, new InterProcessMutex(client.curator, path));
                break;
            case "observed-mutex":
                client.recipes.put(name, ObservedMutex.at(client, path));
                break;
            case "multi-lock":
                client.recipes.put(name, new InterProcessMultiLock(client.curator, List.of(path, c.word(2))));
                break;
            case "read-write": {
                InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client.curator, path, c.bytes(2));
                client.recipes.put(name + "/read", lock.readLock());
                client.recipes.put(name + "/write", lock.writeLock());
                break;
            }
            case "semaphore-mutex":
                client.recipes.put(name, new InterProcessSemaphoreMutex(client.curator, path));
                break;
            case "semaphore": {
                InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client.curator, path, c.number(2));
                semaphore.setNodeData(c.bytes(3));
                client.recipes.put(name, semaphore);
                break;
            }
            case "count": {
                SharedCount count = new SharedCount(client.curator, path, c.number(2));
                count.start();
                client.recipes.put(name, count);
                break;
            }
            case "shared-semaphore": {
                SharedCount count = (SharedCount) client.recipes.get(c.word(2));
                client.recipes.put(name, new InterProcessSemaphoreV2(client.curator, path, count));
                break;
            }
            case "barrier":
                client.recipes.put(name, new DistributedBarrier(client.curator, path));
                break;
            case "latch":
                client.recipes.put(name, new Candidate.Latch(client.curator, path, c.word(2)));
                break;
            case "selector":
                client.recipes.put(name, new Candidate.Selector(client.curator, path, c.word(2)));
                break;
            default:
                client.recipes.put(name, new DistributedDoubleBarrier(client.curator, path, c.number(2)));
        }
    }

    private static void acquire(Command c, Client client) throws Exception {
        String name = c.word(0);
        InterProcessLock lock = recipe(InterProcessLock.class, c, client);
        client.mayAcquire(c, name);
        if (lock instanceof ObservedMutex) {
            ObservedMutex observed = (ObservedMutex) lock;
            if (observed.isOwnedByCurrentThread()) {
                observed.acquire(); // a re-entry keeps its place
            } else {
                observed.begin(c);
                if (!observed.acquire(c.wait(1), c.unit(1))) {
                    done(c, false);
                    return;
                }
            }
            ObservedMutex.Place place = observed.place();
            client.acquired(c, name, place.losses, List.of("zxid", place.zxid, "session", place.session));
            return;
        }
        if (c.has(1) && !lock.acquire(c.wait(1), Command.UNIT)) {
            done(c, false);
            return;
        }
        if (!c.has(1)) {
            lock.acquire();
        }
        client.acquired(c, name, client.losses(), List.of());
    }

    private static void participants(Command c, Client client) throws Exception {
        Object recipe = client.recipes.get(c.word(0));
        Collection<String> nodes;
        if (recipe instanceof InterProcessMutex) {
            nodes = ((InterProcessMutex) recipe).getParticipantNodes();
        } else {
            // Curator gives these without their folder.
            nodes = new ArrayList<>();
            for (String node : ((InterProcessSemaphoreV2) recipe).getParticipantNodes()) {
                nodes.add(ZKPaths.makePath(c.word(1), "leases", node));
            }
        }
        List<String> data = new ArrayList<>();
        for (String node : nodes) {
            byte[] bytes = client.curator.getData().forPath(node);
            data.add(bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8));
        }
        Out.line("id", c.id, "event", "ok", "nodes", nodes, "data", data);
    }

    private static void done(Command c, boolean done) {
        Out.line("id", c.id, "event", "ok", "done", done);
    }

    private static <T> T recipe(Class<T> type, Command c, Client client) {
        Object recipe = client.recipes.get(c.word(0));
        if (!type.isInstance(recipe)) {
            throw new IllegalArgumentException(c.word(0) + " is no " + type.getSimpleName() + " but " + recipe);
        }
        return type.cast(recipe);
    }
}
