package zkverify.interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Apache Curator's recipes at the other end of a pipe.
 *
 * <p>Standard input holds one command a line: an id, the name of a worker, a verb, the name of a
 * client and the verb's arguments, separated by spaces and each escaped as in the query of a URL.
 * {@link Verbs} lists the verbs. Each worker is a thread of its own, since Curator's mutexes are
 * owned by threads: the commands of one worker are carried out one after the other, those of
 * different workers at the same time. "ID - interrupt OTHER" interrupts the command OTHER.
 *
 * <p>Standard output holds one JSON object a line, see {@link Out}. Every command is answered by
 * one line with its id and the event "ok" or "error". The process ends with its standard input.
 */
public final class Peer {
    private final Map<String, ExecutorService> workers = new ConcurrentHashMap<>();
    private final Map<String, Task> tasks = new ConcurrentHashMap<>();
    private final Verbs verbs = new Verbs();

    public static void main(String[] arguments) throws IOException {
        new Peer().serve(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)));
        // No client is closed here: the test closes its clients before, with the verb close.
        Runtime.getRuntime().halt(0);
    }

    private void serve(BufferedReader in) throws IOException {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            for (int i = 0; i < words.length; i++) {
                words[i] = URLDecoder.decode(words[i], StandardCharsets.UTF_8);
            }
            if (words[2].equals("interrupt")) {
                Task other = tasks.get(words[3]);
                if (other != null) {
                    other.interrupt();
                }
                Out.line("id", words[0], "event", "ok");
                continue;
            }
            Task task = new Task(new Command(words));
            tasks.put(task.command.id, task);
            workers.computeIfAbsent(task.command.worker, name -> Executors.newSingleThreadExecutor(work -> {
                Thread thread = new Thread(work, name);
                thread.setDaemon(true);
                return thread;
            })).execute(task);
        }
    }

    /** One command on its worker. */
    private final class Task implements Runnable {
        final Command command;
        private Thread runner;
        private boolean interrupted;

        Task(Command command) {
            this.command = command;
        }

        @Override
        public void run() {
            synchronized (this) {
                runner = Thread.currentThread();
                if (interrupted) {
                    runner.interrupt();
                }
            }
            try {
                verbs.carryOut(command);
            } catch (Exception e) {
                Out.line("id", command.id, "event", "error", "error", e.toString());
            } finally {
                synchronized (this) {
                    runner = null;
                    Thread.interrupted(); // the next command of this worker is another's
                }
                tasks.remove(command.id);
            }
        }

        synchronized void interrupt() {
            interrupted = true;
            if (runner != null) {
                runner.interrupt();
            }
        }
    }
}
