package zkverify.worker;

import java.io.IOException;
import java.util.Collection;

/** Permits of a semaphore, which Curator calls leases. */
final class Permits extends Lease {
    private final Collection<org.apache.curator.framework.recipes.locks.Lease> leases;

    Permits(Client client, Owner owner, long id, int losses, Collection<org.apache.curator.framework.recipes.locks.Lease> leases) {
        super(client, owner, id, losses);
        this.leases = leases;
    }

    /** Curator does not say. */
    @Override
    boolean held() {
        return true;
    }

    /** Closes all permits, and fails if one could not be closed. InterProcessSemaphoreV2.returnAll would not fail. */
    @Override
    void release() throws IOException {
        IOException failed = null;
        for (org.apache.curator.framework.recipes.locks.Lease lease : leases) {
            try {
                lease.close();
            } catch (IOException e) {
                failed = e;
            }
        }
        if (failed != null) {
            throw failed;
        }
    }
}
