package zkverify.worker;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A thread of one owner. Many locks belong to the thread that has acquired them, which alone can
 * re-enter and release them.
 */
final class Owner {
    private final ExecutorService thread = Executors.newSingleThreadExecutor(work -> {
        Thread t = new Thread(work, "owner");
        t.setDaemon(true);
        return t;
    });
    private int held;

    <T> T call(Callable<T> work) throws Exception {
        return result(start(work));
    }

    <T> Future<T> start(Callable<T> work) {
        return thread.submit(work);
    }

    /** Waits for what was started. */
    static <T> T result(Future<T> started) throws Exception {
        try {
            return started.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception) {
                throw (Exception) e.getCause();
            }
            throw e;
        }
    }

    /** Counts what it holds. */
    synchronized void keep() {
        held++;
    }

    /** Ends the thread, unless it holds something else. */
    synchronized void drop() {
        if (--held <= 0) {
            thread.shutdown();
        }
    }
}
