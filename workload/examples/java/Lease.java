package zkverify.worker;

import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.zookeeper.data.Stat;

/** The result of an acquire: a lock, some permits, or a term as leader. */
abstract class Lease {
    final Client client;
    final Owner owner;
    /** The number of the acquire, by which the run knows the lease. */
    final long id;

    /** The lease's node, null if it is not known. */
    protected volatile Stat node;

    private final int since;
    private boolean given; // the acquire is answered, or about to be
    private boolean lost;

    /** @param since the client's losses at a time since when any loss would be one of this lease too */
    Lease(Client client, Owner owner, long id, int since) {
        this.client = client;
        this.owner = owner;
        this.id = id;
        this.since = since;
    }

    /** A lease that has been acquired just now. */
    Lease(Client client, Owner owner, long id) {
        this(client, owner, id, client.losses());
    }

    /** Finds its node. If that fails, or is interrupted, it releases the lease: the run will not learn of it. */
    Lease at(Callable<Stat> node) throws Exception {
        try {
            this.node = node.call();
            return this;
        } catch (Exception e) {
            boolean interrupted = Thread.interrupted();
            release();
            throw interrupted ? new InterruptedException(e.getMessage()) : e;
        }
    }

    /** The library's answer, at once, whether the lease is still held. The reading thread calls it. */
    abstract boolean held();

    /** Releases the lease. It is called once, on the owner's thread, for a lost lease too. */
    abstract void release() throws Exception;

    /** Acquires once more for the same owner, on its thread, as the command says. */
    Lease again(Command command) throws Exception {
        throw new Failure("it cannot be acquired again", null);
    }

    /** Reports from now on when the holder is asked to release the lease. */
    void listen() throws Failure {
        throw new Failure("nobody is asked to release it", null);
    }

    /** The answer to an acquire: the token, and the session that the node belongs to. */
    Map<String, Object> answer() throws Exception {
        Stat stat = node;
        if (stat == null) {
            return Out.fields("session", Out.session(client.session()));
        }
        return Out.fields("session", Out.session(stat.getEphemeralOwner()), "token", Out.token(stat.getCzxid()));
    }

    /** Marks the lease as held, unless it was lost before. */
    boolean give() {
        boolean lostBefore = client.losses() != since;
        synchronized (this) {
            given = !lost && !lostBefore;
            return given;
        }
    }

    /** Notifies the holder that the lease is lost. */
    synchronized void lose() {
        if (!lost && given) {
            Out.say("event", "lost", "lease", id);
        }
        lost = true;
    }

    synchronized boolean lost() {
        return lost;
    }
}
