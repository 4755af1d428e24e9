package zkverify.worker;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListener;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.state.ConnectionState;

/**
 * Curator's LeaderSelector. Each campaign is a selector of its own, requeued for as long as it waits.
 *
 * <p>A polite leader extends LeaderSelectorListenerAdapter, as the documentation recommends: takeLeadership
 * is interrupted when the connection is SUSPENDED or LOST. A careless one does nothing then.
 */
final class Selector extends Recipe<CuratorClient> {
    private static final String MARKER = "lock-"; // in the names of nodes, before their numbers

    @Override
    Class<?> of() {
        return LeaderSelector.class;
    }

    @Override
    String kind() {
        return "election";
    }

    /** Its adapter is documented to end the term at SUSPENDED and LOST. It has no token. */
    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields("tells_loss", polite);
    }

    @Override
    Lease acquire(CuratorClient client, Owner owner, Command command) throws Exception {
        String path = client.path(command.text("lock"));
        Queue queue = new Queue(client, path, MARKER);
        String id = "client-" + client.number + "-" + UUID.randomUUID();
        LinkedBlockingQueue<Term> won = new LinkedBlockingQueue<>();
        CountDownLatch resigned = new CountDownLatch(1);
        LeaderSelectorListener listener = new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework curator) throws Exception {
                Term term = new Term(client, owner, command.id, queue, resigned);
                try {
                    term.path = queue.withData(id);
                    term.node = term.path == null ? null : queue.stat(term.path);
                    won.add(term);
                    resigned.await();
                } catch (InterruptedException e) {
                    if (resigned.getCount() > 0) {
                        term.lose();
                    }
                    throw e;
                }
            }

            @Override
            public void stateChanged(CuratorFramework curator, ConnectionState state) {
                if (client.polite) {
                    super.stateChanged(curator, state);
                }
            }
        };
        LeaderSelector selector = new LeaderSelector(client.curator, path, listener);
        selector.setId(id);
        selector.autoRequeue();
        selector.start();
        try {
            while (true) {
                Term term = command.waits() ? won.take() : tryOnce(queue, won, id);
                if (!term.lost()) {
                    term.selector = selector;
                    return term;
                }
            }
        } catch (Exception e) {
            boolean interrupted = Thread.interrupted();
            resigned.countDown();
            selector.close();
            if (e instanceof Failure) {
                String node = queue.withData(id);
                if (node != null) {
                    queue.awaitGone(node);
                }
            }
            throw interrupted ? new InterruptedException(e.getMessage()) : e;
        }
    }

    private static Term tryOnce(Queue queue, LinkedBlockingQueue<Term> won, String id) throws Exception {
        while (true) {
            Term term = won.poll(5, TimeUnit.MILLISECONDS);
            if (term != null) {
                return term;
            }
            String mine = queue.withData(id);
            if (mine != null && queue.nodes().indexOf(mine) > 0) {
                throw Failure.notAcquired();
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
        private final Queue queue;
        private final CountDownLatch resigned;
        LeaderSelector selector;
        String path;

        Term(Client client, Owner owner, long id, Queue queue, CountDownLatch resigned) {
            super(client, owner, id);
            this.queue = queue;
            this.resigned = resigned;
        }

        @Override
        boolean held() {
            return selector.hasLeadership();
        }

        @Override
        void release() throws Exception {
            resigned.countDown();
            selector.close();
            if (!lost() && path != null) {
                queue.awaitGone(path);
            }
        }
    }
}
