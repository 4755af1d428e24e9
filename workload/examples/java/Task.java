package zkverify.worker;

import java.util.Map;
import java.util.concurrent.Callable;

/** A command under way. It is cancelled by interrupting the thread that carries it out. */
final class Task {
    final Command command;
    private Thread runner;
    private boolean cancelled;

    Task(Command command) {
        this.command = command;
    }

    synchronized boolean cancelled() {
        return cancelled;
    }

    synchronized void cancel() {
        cancelled = true;
        command.cancel();
        if (runner != null) {
            runner.interrupt();
        }
    }

    /** Carries the command out on this thread. A cancel reaches it and no later work. */
    Map<String, Object> run(Callable<Map<String, Object>> work) throws Exception {
        synchronized (this) {
            if (cancelled) {
                throw new InterruptedException("cancelled");
            }
            runner = Thread.currentThread();
        }
        try {
            return work.call();
        } finally {
            synchronized (this) {
                runner = null;
                Thread.interrupted();
            }
        }
    }
}
