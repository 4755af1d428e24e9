package zkverify.worker;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.Participant;

/**
 * Curator's LeaderLatch. Each campaign is a latch of its own: it is started, waits until it leads, and is
 * closed to resign.
 *
 * <p>A polite leader learns of the end of its term from the latch's listener (notLeader), and from its own
 * listener of the connection. A careless one has asked hasLeadership() when it was elected, and asks no more.
 */
final class Latch extends Recipe<CuratorClient> {
    private static final String MARKER = "latch-"; // in the names of nodes, before their numbers

    @Override
    Class<?> of() {
        return LeaderLatch.class;
    }

    @Override
    String kind() {
        return "election";
    }

    /** It is documented to choose at random and to notify its leader of SUSPENDED and LOST. It has no token. */
    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields("tells_loss", polite);
    }

    @Override
    Lease acquire(CuratorClient client, Owner owner, Command command) throws Exception {
        String path = client.path(command.text("lock"));
        AtomicReference<Term> term = new AtomicReference<>();
        LeaderLatch latch = new LeaderLatch(client.curator, path, "client-" + client.number + "-" + UUID.randomUUID());
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {}

            @Override
            public void notLeader() {
                Term held = term.get();
                if (held != null && client.polite) {
                    held.lose();
                }
            }
        });
        latch.start();
        Queue queue = new Queue(client, path, MARKER);
        try {
            while (true) {
                if (command.waits()) {
                    latch.await();
                } else {
                    tryOnce(latch);
                }
                String node = latch.getLastPathIsLeader();
                Term won = new Term(client, owner, command.id, latch, queue, node);
                won.node = queue.stat(node);
                term.set(won);
                // The term may have ended before the run could be told of it.
                if (latch.hasLeadership()) {
                    return won;
                }
                term.set(null);
            }
        } catch (Exception e) {
            boolean interrupted = Thread.interrupted();
            String node = latch.getOurPath();
            latch.close();
            if (node != null && e instanceof Failure) {
                queue.awaitGone(node);
            }
            throw interrupted ? new InterruptedException(e.getMessage()) : e;
        }
    }

    /** Returns when the latch leads; it fails when another latch is before it. */
    private static void tryOnce(LeaderLatch latch) throws Exception {
        while (!latch.await(5, TimeUnit.MILLISECONDS)) {
            boolean first = true;
            for (Participant each : latch.getParticipants()) {
                if (each.getId().equals(latch.getId()) && !first) {
                    throw Failure.notAcquired();
                }
                first = false;
            }
        }
    }

    @Override
    Map<String, Object> operate(CuratorClient client, Command command) throws Exception {
        if (!command.what.equals("observe")) {
            return super.operate(client, command);
        }
        new Queue(client, client.path(command.text("lock")), MARKER).observe(command.id);
        return Out.fields();
    }

    private static final class Term extends Lease {
        private final LeaderLatch latch;
        private final Queue queue;
        private final String path;

        Term(Client client, Owner owner, long id, LeaderLatch latch, Queue queue, String path) {
            super(client, owner, id);
            this.latch = latch;
            this.queue = queue;
            this.path = path;
        }

        @Override
        boolean held() {
            return latch.hasLeadership();
        }

        @Override
        void release() throws Exception {
            latch.close();
            if (!lost()) {
                queue.awaitGone(path);
            }
        }
    }
}
