package zkverify.interop;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;

/** A candidate of one of Curator's two elections, which campaigns once. */
abstract class Candidate {
    /** Waits until it leads; returns whether it does. A negative wait is for ever. */
    abstract boolean campaign(long wait) throws Exception;

    abstract boolean leads();

    /** Ends the term, or the campaign. */
    abstract void resign() throws Exception;

    /** The leader's id, "" if there is none. */
    abstract String leader() throws Exception;

    abstract Collection<Participant> participants() throws Exception;

    /** Their ids, in the order in which they will lead. */
    List<String> ids() throws Exception {
        List<String> ids = new ArrayList<>();
        for (Participant p : participants()) {
            ids.add(p.getId());
        }
        return ids;
    }

    /** A LeaderLatch. */
    static final class Latch extends Candidate {
        private final LeaderLatch latch;

        Latch(CuratorFramework curator, String path, String id) {
            latch = new LeaderLatch(curator, path, id);
        }

        @Override
        boolean campaign(long wait) throws Exception {
            if (latch.getState() == LeaderLatch.State.LATENT) {
                latch.start();
            }
            if (wait < 0) {
                latch.await();
                return true;
            }
            return latch.await(wait, TimeUnit.MILLISECONDS);
        }

        @Override
        boolean leads() {
            return latch.hasLeadership();
        }

        @Override
        void resign() throws Exception {
            latch.close();
        }

        @Override
        String leader() throws Exception {
            return latch.getLeader().getId();
        }

        @Override
        Collection<Participant> participants() throws Exception {
            return latch.getParticipants();
        }
    }

    /** A LeaderSelector. */
    static final class Selector extends Candidate {
        private final CountDownLatch elected = new CountDownLatch(1);
        private final CountDownLatch over = new CountDownLatch(1);
        private final LeaderSelector selector;
        private boolean started;

        Selector(CuratorFramework curator, String path, String id) {
            selector = new LeaderSelector(curator, path, new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework client) throws Exception {
                    elected.countDown();
                    over.await();
                }
            });
            selector.setId(id);
        }

        @Override
        synchronized boolean campaign(long wait) throws Exception {
            if (!started) {
                started = true;
                selector.start();
            }
            if (wait < 0) {
                elected.await();
                return true;
            }
            return elected.await(wait, TimeUnit.MILLISECONDS);
        }

        @Override
        boolean leads() {
            return selector.hasLeadership();
        }

        @Override
        void resign() {
            over.countDown();
            selector.close();
        }

        @Override
        String leader() throws Exception {
            return selector.getLeader().getId();
        }

        @Override
        Collection<Participant> participants() throws Exception {
            return selector.getParticipants();
        }
    }
}
