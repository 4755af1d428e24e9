package zkverify.worker;

import java.util.Map;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;

/** Curator's DistributedBarrier. */
final class Barrier extends Recipe<CuratorClient> {
    @Override
    Class<?> of() {
        return DistributedBarrier.class;
    }

    @Override
    String kind() {
        return "barrier";
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
    Map<String, Object> operate(CuratorClient client, Command command) throws Exception {
        DistributedBarrier barrier = new DistributedBarrier(client.curator, client.path(command.text("lock")));
        switch (command.what) {
            case "set":
                barrier.setBarrier();
                break;
            case "remove":
                barrier.removeBarrier();
                break;
            case "wait":
                barrier.waitOnBarrier();
                break;
            default:
                return super.operate(client, command);
        }
        return Out.fields();
    }
}
