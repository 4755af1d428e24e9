package zkverify.worker;

import java.util.Map;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;

/** Curator's DistributedDoubleBarrier. Each member has one of its own, for one round. */
final class DoubleBarrier extends Recipe<CuratorClient> {
    @Override
    Class<?> of() {
        return DistributedDoubleBarrier.class;
    }

    @Override
    String kind() {
        return "doublebarrier";
    }

    @Override
    Map<String, Object> promises(boolean polite) {
        return Out.fields();
    }

    @Override
    boolean held() {
        return false;
    }

    @Override
    Lease acquire(CuratorClient client, Owner owner, Command command) throws Exception {
        String lock = command.text("lock");
        DistributedDoubleBarrier barrier = new DistributedDoubleBarrier(client.curator, client.path(lock), client.size(lock));
        barrier.enter();
        return new Member(client, owner, command.id, barrier);
    }

    private static final class Member extends Lease {
        private final DistributedDoubleBarrier barrier;

        Member(Client client, Owner owner, long id, DistributedDoubleBarrier barrier) {
            super(client, owner, id);
            this.barrier = barrier;
        }

        @Override
        boolean held() {
            return true;
        }

        @Override
        void release() throws Exception {
            barrier.leave();
        }

        /** Curator notifies a member by an exception of leave. */
        @Override
        synchronized void lose() {}

        @Override
        boolean give() {
            return true;
        }
    }
}
