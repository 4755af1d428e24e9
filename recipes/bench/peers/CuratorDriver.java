import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryNTimes;

/** Drives Curator's locks; see process.go for what it is told and answers. */
public final class CuratorDriver {
    private static final int SESSION_TIMEOUT_MS = 10_000;
    private static final long A_WRITER = 1L << 32;

    private final Map<String, CuratorFramework> sessions = new HashMap<>();
    private Run parked;
    private CountDownLatch unpark;
    private Thread holder;

    public static void main(String[] args) throws Exception {
        BlockingQueue<String> commands = new ArrayBlockingQueue<>(1);
        Thread worker = new Thread(() -> {
            CuratorDriver driver = new CuratorDriver();
            try {
                while (true) {
                    System.out.println(driver.answer(commands.take()));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        worker.setDaemon(true);
        worker.start();
        System.out.println("ready " + version() + ", Java " + System.getProperty("java.version"));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            commands.put(line);
        }
        Runtime.getRuntime().halt(0); // whatever the worker does: its master is gone
    }

    /** Curator's version, as its jar tells it. */
    private static String version() throws Exception {
        Properties made = new Properties();
        try (InputStream in = InterProcessMutex.class.getResourceAsStream(
                "/META-INF/maven/org.apache.curator/curator-recipes/pom.properties")) {
            if (in != null) {
                made.load(in);
            }
        }
        return made.getProperty("version", "of unknown version");
    }

    private String answer(String command) {
        try {
            String[] words = command.split(" ");
            switch (words[0]) {
                case "run":
                    return "ok " + run(new Work(words));
                case "park":
                    park(new Work(words));
                    return "ok 0";
                case "unpark":
                    unpark.countDown();
                    holder.join();
                    parked.await();
                    return "ok 0";
                case "disconnect":
                    sessions.values().forEach(CuratorFramework::close);
                    sessions.clear();
                    return "ok 0";
                default:
                    return "error no such command: " + words[0];
            }
        } catch (Throwable e) {
            return "error " + e.toString().replace('\n', ' ');
        }
    }

    private long run(Work work) throws Exception {
        Run run = new Run(work);
        Lock first = lock(work, 0);
        first.acquire();
        first.release();
        run.stand();
        System.gc();
        long begin = System.nanoTime();
        run.start();
        run.await();
        return System.nanoTime() - begin;
    }

    private void park(Work work) throws Exception {
        parked = new Run(work);
        unpark = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        Lock lock = lock(work, 0);
        // Only the thread that acquired may release.
        holder = new Thread(() -> {
            try {
                lock.acquire();
                held.countDown();
                unpark.await();
                lock.release();
            } catch (Throwable e) {
                parked.failure.compareAndSet(null, e);
                held.countDown();
            }
        });
        holder.start();
        held.await();
        parked.stand();
        parked.start();
    }

    private CuratorFramework session(Work work, int contender) throws Exception {
        int number = contender % work.sessions;
        String server = work.servers[number % work.servers.length];
        String key = number + " " + server;
        CuratorFramework client = sessions.get(key);
        if (client == null) {
            client = CuratorFrameworkFactory.newClient(server, SESSION_TIMEOUT_MS, SESSION_TIMEOUT_MS, new RetryNTimes(3, 100));
            client.start();
            if (!client.blockUntilConnected(SESSION_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("no session with " + server);
            }
            sessions.put(key, client);
        }
        return client;
    }

    /** One contender's lock object. */
    private Lock lock(Work work, int contender) throws Exception {
        CuratorFramework client = session(work, contender);
        switch (work.kind) {
            case "mutex": {
                InterProcessMutex mutex = new InterProcessMutex(client, work.path);
                return new Lock(mutex::acquire, mutex::release);
            }
            case "readwrite": {
                InterProcessReadWriteLock both = new InterProcessReadWriteLock(client, work.path);
                InterProcessMutex side = work.writer(contender) ? both.writeLock() : both.readLock();
                return new Lock(side::acquire, side::release);
            }
            case "semaphore": {
                InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, work.path, work.permits);
                Lease[] lease = new Lease[1];
                return new Lock(() -> lease[0] = semaphore.acquire(), () -> semaphore.returnLease(lease[0]));
            }
            default:
                throw new IllegalArgumentException("no lock of kind " + work.kind);
        }
    }

    private interface Step {
        void take() throws Exception;
    }

    private static final class Lock {
        private final Step acquire;
        private final Step release;

        Lock(Step acquire, Step release) {
            this.acquire = acquire;
            this.release = release;
        }

        void acquire() throws Exception {
            acquire.take();
        }

        void release() throws Exception {
            release.take();
        }
    }

    /** The contenders of one work, a thread each. */
    private final class Run {
        private final Work work;
        private final CountDownLatch ready;
        private final CountDownLatch line = new CountDownLatch(1);
        private final CountDownLatch done;
        private final AtomicLong inside = new AtomicLong();
        final AtomicReference<Throwable> failure = new AtomicReference<>();

        Run(Work work) {
            this.work = work;
            ready = new CountDownLatch(work.contenders);
            done = new CountDownLatch(work.contenders);
        }

        /** Returns when all stand at the line. */
        void stand() throws Exception {
            for (int i = 0; i < work.contenders; i++) {
                Lock lock = lock(work, i);
                boolean writer = work.writer(i);
                Thread contender = new Thread(() -> {
                    try {
                        ready.countDown();
                        line.await();
                        for (int c = 0; c < work.cycles && failure.get() == null; c++) {
                            lock.acquire();
                            enter(writer);
                            if (work.hold > 0) {
                                TimeUnit.MICROSECONDS.sleep(work.hold);
                            }
                            inside.addAndGet(writer ? -A_WRITER : -1);
                            lock.release();
                        }
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    } finally {
                        done.countDown();
                    }
                });
                contender.setDaemon(true);
                contender.start();
            }
            ready.await();
        }

        void start() {
            line.countDown();
        }

        void await() throws Exception {
            done.await();
            if (failure.get() != null) {
                throw new Exception(failure.get());
            }
        }

        /** Notices a lock that lets in more than it may. */
        private void enter(boolean writer) {
            long now = inside.addAndGet(writer ? A_WRITER : 1);
            long may = writer ? A_WRITER : work.kind.equals("readwrite") ? A_WRITER - 1 : work.kind.equals("semaphore") ? work.permits : 1;
            if (now > may) {
                throw new IllegalStateException("the " + work.kind + " let in more than it may");
            }
        }
    }

    /** What to do, from words of the form name=value. */
    private static final class Work {
        String kind = "";
        String path = "";
        String[] servers = {};
        int sessions;
        int contenders;
        int cycles;
        int permits;
        long hold; // microseconds

        Work(String[] words) {
            for (int i = 1; i < words.length; i++) {
                String[] pair = words[i].split("=", 2);
                switch (pair[0]) {
                    case "kind": kind = pair[1]; break;
                    case "path": path = pair[1]; break;
                    case "servers": servers = pair[1].split(","); break;
                    case "sessions": sessions = Integer.parseInt(pair[1]); break;
                    case "contenders": contenders = Integer.parseInt(pair[1]); break;
                    case "cycles": cycles = Integer.parseInt(pair[1]); break;
                    case "permits": permits = Integer.parseInt(pair[1]); break;
                    case "hold": hold = Long.parseLong(pair[1]); break;
                    default: throw new IllegalArgumentException("no such word: " + words[i]);
                }
            }
        }

        boolean writer(int contender) {
            return kind.equals("readwrite") && contender % 10 == 9;
        }
    }
}
