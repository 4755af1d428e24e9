package zkverify.worker;

import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.zookeeper.data.Stat;

/** What an acquire has got: a lock, some permits, or a term as leader. */
abstract class Lease {
    final Client client;
    final Owner owner;
    /** The number of the acquire, by which the run knows the lease. */
    final long id;

    /** The node that the library has it by, null if that is not known. */
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

    /** Of what has been got just now. */
    Lease(Client client, Owner owner, long id) {
        this(client, owner, id, client.losses());
    }

    /** Finds its node. If that fails, or is interrupted, it is given back: nobody will know of it. */
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

    /** What the library says, at once, when it is asked whether the lease is still held. The thread that reads asks. */
    abstract boolean held();

    /** Gives it back. It is called once, on the owner's thread, of a lost lease too. */
    abstract void release() throws Exception;

    /** Acquires once more for the same owner, on its thread, as the command says. */
    Lease again(Command command) throws Exception {
        throw new Failure("it cannot be acquired again", null);
    }

    /** Wants to know from now on when its holder is asked to release it. */
    void listen() throws Failure {
        throw new Failure("nobody is asked to release it", null);
    }

    /** What an acquire is answered: the token, and the session that the node belongs to. */
    Map<String, Object> answer() throws Exception {
        Stat stat = node;
        if (stat == null) {
            return Out.fields("session", Out.session(client.session()));
        }
        return Out.fields("session", Out.session(stat.getEphemeralOwner()), "token", Out.token(stat.getCzxid()));
    }

    /** Marks it as got, unless it was lost before. */
    boolean give() {
        boolean lostBefore = client.losses() != since;
        synchronized (this) {
            given = !lost && !lostBefore;
            return given;
        }
    }

    /** Tells the holder that it holds no longer. */
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
