package zkverify.worker;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.recipes.leader.LeaderElectionSupport;
import org.apache.zookeeper.recipes.leader.LeaderElectionSupport.EventType;

/**
 * ZooKeeper's LeaderElectionSupport. Each campaign has one of its own: it is started, waits for the event
 * that it is elected, and is stopped to resign. It does not notify its leader of a loss: the connection does,
 * see PlainClient.
 */
final class Election extends Recipe<PlainClient> {
    private static final String MARKER = "n_"; // in the names of nodes, before their numbers

    @Override
    Class<?> of() {
        return LeaderElectionSupport.class;
    }

    @Override
    String kind() {
        return "election";
    }

    /** The documentation says that the offer with the lowest number leads, not that others keep their places. */
    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields("tells_loss", polite);
    }

    @Override
    Lease acquire(PlainClient client, Owner owner, Command command) throws Exception {
        String path = client.path(command.text("lock"));
        client.ensure(path); // it is documented to take it for granted
        Campaign campaign = new Campaign(client, path);
        Queue queue = new Queue(client, path, MARKER);
        try {
            campaign.win(command);
            Term term = new Term(client, owner, command.id, campaign);
            String node = queue.withData(campaign.name);
            term.node = node == null ? null : queue.stat(node);
            return term;
        } catch (Exception e) {
            boolean interrupted = Thread.interrupted();
            try {
                campaign.stop();
            } catch (Failure stays) {
                e.addSuppressed(stays);
            }
            throw interrupted ? new InterruptedException(e.getMessage()) : e;
        }
    }

    @Override
    Map<String, Object> operate(PlainClient client, Command command) throws Exception {
        if (!command.what.equals("observe")) {
            return super.operate(client, command);
        }
        new Queue(client, client.path(command.text("lock")), MARKER).observe(command.id);
        return Out.fields();
    }

    /** One campaign, and the term that it may win. */
    private static final class Campaign {
        final String name = UUID.randomUUID().toString();
        private final PlainClient client;
        private final Connection.Handle session;
        private final LeaderElectionSupport support = new LeaderElectionSupport();
        private final BlockingQueue<EventType> events = new LinkedBlockingQueue<>();
        private volatile boolean offered; // its node is known to it
        private volatile boolean failed; // the latest that it has told

        Campaign(PlainClient client, String path) throws Exception {
            this.client = client;
            session = client.handle();
            support.setZooKeeper(session);
            support.setRootNodeName(path);
            support.setHostName(name);
            support.addListener(event -> {
                offered |= event == EventType.OFFER_COMPLETE;
                failed = event == EventType.FAILED;
                events.add(event);
            });
        }

        /** Returns when it is elected. */
        void win(Command command) throws Exception {
            support.start();
            while (true) {
                EventType event = events.poll(20, TimeUnit.MILLISECONDS);
                command.check(); // start() may have taken the interrupt for its own
                if (event == EventType.ELECTED_COMPLETE) {
                    return;
                }
                if (event == EventType.FAILED) {
                    throw new Failure("the election has failed", null);
                }
                if (event == null && !session.getState().isAlive()) {
                    throw new Failure("the session has ended", null);
                }
                if (event == EventType.READY_COMPLETE && !command.waits()) {
                    throw Failure.notAcquired();
                }
            }
        }

        /** Stops it. An offer that it cannot delete, or does not know to have made, ends with its session. */
        void stop() throws Failure {
            boolean before = failed;
            failed = false;
            events.clear();
            support.stop();
            boolean deleted = !events.contains(EventType.FAILED);
            if (!deleted || before && !offered) {
                client.replace(session);
            }
            if (!deleted) {
                throw new Failure("the offer was not deleted", null);
            }
        }
    }

    private static final class Term extends Lease {
        private final Campaign campaign;

        Term(Client client, Owner owner, long id, Campaign campaign) {
            super(client, owner, id);
            this.campaign = campaign;
        }

        /** It does not say. */
        @Override
        boolean held() {
            return true;
        }

        @Override
        void release() throws Failure {
            campaign.stop();
        }
    }
}
