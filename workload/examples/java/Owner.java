package zkverify.worker;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A thread of one owner. Many locks belong to the thread that has acquired them: only that thread can
 * re-enter and release them.
 */
final class Owner implements Runnable {
    private final BlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
    private int held;
    private volatile boolean over;

    /** Takes one of the threads until it holds no lease any more. It begins with the acquire. */
    Owner(Executor threads) {
        keep();
        threads.execute(this);
    }

    @Override
    public void run() {
        while (!over || !work.isEmpty()) {
            try {
                work.take().run();
            } catch (InterruptedException e) {
                // A cancel that came late: it was for work that is done.
            }
        }
    }

    /** Does work after all work that was begun before. The work throws nothing. */
    synchronized void begin(Runnable next) throws Failure {
        if (over) {
            throw new Failure("its owner holds nothing any more", null);
        }
        work.add(next);
    }

    /** Counts its leases. */
    synchronized void keep() {
        held++;
    }

    /** Gives the thread back after the work that was begun, unless it holds a lease. It is called on the thread. */
    synchronized void drop() {
        if (--held <= 0) {
            over = true;
        }
    }
}
