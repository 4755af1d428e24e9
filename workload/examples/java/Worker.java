package zkverify.worker;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A worker process for zkverify run --worker-command: it hosts clients of one recipe of a library. */
final class Worker<C extends Client> {
    private final Library<C> library;
    private final Recipe<C> recipe;
    private final boolean polite;
    private final Map<Integer, C> clients = new ConcurrentHashMap<>();
    private final Map<Long, Task> tasks = new ConcurrentHashMap<>(); // by the number of their command
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread t = new Thread(work, "command");
        t.setDaemon(true);
        return t;
    });

    private Worker(Library<C> library, String recipe, boolean polite) {
        this.library = library;
        this.recipe = library.recipe(recipe);
        this.polite = polite;
    }

    /** Serves until its input ends. The arguments are a recipe of the library, and --polite or --careless. */
    static <C extends Client> void serve(Library<C> library, String[] args) throws Exception {
        Out.take();
        new Worker<>(library, args[0], args[1].equals("--polite")).serve();
    }

    private void serve() throws Exception {
        String name = recipe.of().getSimpleName();
        String manners = !recipe.held() ? "" : polite ? "; " + library.manners() : "; a holder never looks whether it still holds";
        Out.say("event", "hello", "protocol", 1, "hosts", Out.fields(
                "name", library.name() + "-" + name + (polite || !recipe.held() ? "" : "-careless"),
                "description", name + " of " + library.title() + manners,
                "recipes", Arrays.asList(recipe.kind()),
                "promises", recipe.promises(polite)));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Command command;
            try {
                command = new Command(line);
            } catch (IllegalArgumentException e) {
                System.err.println(e.getMessage());
                Runtime.getRuntime().halt(1);
                return;
            }
            if (command.what.equals("cancel")) {
                cancel(command.number("of"));
                continue;
            }
            Task task = new Task(command);
            tasks.put(command.id, task);
            try {
                begin(task);
            } catch (Failure | RuntimeException e) {
                answer(task, failed(task, e));
            }
        }
        Runtime.getRuntime().halt(0); // nobody listens any more
    }

    private void cancel(long of) {
        Task task = tasks.get(of);
        if (task == null) {
            return; // it has been answered
        }
        task.cancel();
        if (task.command.what.equals("release")) { // it is still carried out
            answer(task, failed(task, new InterruptedException("cancelled")));
        }
    }

    /**
     * Begins a command: on the thread of its lock's owner, on a thread of its own, or at once on
     * this thread, which reads, if it does not wait.
     */
    private void begin(Task task) throws Failure {
        Command command = task.command;
        switch (command.what) {
            case "echo": // it asks whether the process runs
                answer(task, Out.fields());
                return;
            case "census":
                threads.execute(() -> carryOut(task, () -> Out.fields("stacks", census())));
                return;
            case "open":
                threads.execute(() -> carryOut(task, () -> task.run(() -> open(command))));
                return;
            default:
                break;
        }
        boolean ends = command.what.equals("close") || command.what.equals("crash");
        C client = ends ? clients.remove(command.client) : clients.get(command.client);
        if (client == null) {
            throw new Failure("client " + command.client + " is not open", null);
        }
        switch (command.what) {
            case "acquire":
            case "try-acquire":
            case "enter":
                Owner owner = new Owner(threads);
                owner.begin(() -> {
                    carryOut(task, () -> task.run(() -> got(client, recipe.acquire(client, owner, command))));
                    owner.drop();
                });
                return;
            case "reenter":
                Lease outer = client.lease(command.number("lease"));
                outer.owner.begin(() -> carryOut(task, () -> task.run(() -> got(client, outer.again(command)))));
                return;
            case "release":
                Lease lease = client.lease(command.number("lease"));
                lease.owner.begin(() -> carryOut(task, () -> release(client, lease)));
                return;
            case "leave":
                Lease member = client.lease(command.number("lease"));
                member.owner.begin(() -> carryOut(task, () -> task.run(() -> release(client, member))));
                return;
            case "valid":
                Lease asked = client.lease(command.number("lease"));
                answer(task, !polite || !asked.lost() && asked.held() ? Out.fields("valid", true) : Out.fields());
                return;
            default:
                threads.execute(() -> carryOut(task, () -> operate(client, task)));
        }
    }

    private Map<String, Object> operate(C client, Task task) throws Exception {
        switch (task.command.what) {
            case "listen":
                client.lease(task.command.number("lease")).listen();
                return Out.fields();
            case "close":
                client.close();
                return Out.fields();
            case "crash":
                client.crash();
                return Out.fields();
            default:
                return task.run(() -> recipe.operate(client, task.command));
        }
    }

    private void carryOut(Task task, Callable<Map<String, Object>> work) {
        Map<String, Object> answer;
        try {
            answer = work.call();
        } catch (Throwable e) {
            answer = failed(task, e);
        }
        answer(task, answer);
    }

    private static Map<String, Object> failed(Task task, Throwable e) {
        Map<String, Object> answer = Out.fields("error", e.getClass().getSimpleName() + ": " + e.getMessage());
        String why = e instanceof Failure ? ((Failure) e).why : task.cancelled() ? "cancelled" : null;
        if (why != null) {
            answer.put("why", why);
        }
        return answer;
    }

    /** Answers a command, unless it has been answered. */
    private void answer(Task task, Map<String, Object> answer) {
        if (tasks.remove(task.command.id) != null) {
            answer.put("id", task.command.id);
            Out.say(answer);
        }
    }

    private Map<String, Object> open(Command command) throws Exception {
        C client = library.client(command.client, command.env(), polite);
        try {
            client.open();
        } catch (Exception e) {
            client.crash();
            throw e;
        }
        clients.put(command.client, client);
        return Out.fields("offers", Arrays.asList(recipe.kind()));
    }

    /** Answers an acquire. A loss from here on is reported. */
    private Map<String, Object> got(C client, Lease lease) throws Exception {
        client.keep(lease);
        lease.owner.keep();
        // From now on a loss reaches the lease; it may have come before.
        if (!lease.give() || polite && !client.connected()) {
            lease.lose();
            release(client, lease); // and fails
        }
        return lease.answer();
    }

    private Map<String, Object> release(C client, Lease lease) throws Exception {
        client.forget(lease);
        boolean lost = lease.lost();
        try {
            lease.release();
        } finally {
            lease.owner.drop();
        }
        if (lost) {
            throw Failure.lost();
        }
        return Out.fields();
    }

    /**
     * The threads that clients have left, when no client is open. They may take a moment to end; those of
     * an executor without references, as Curator leaves one, end when it is collected.
     */
    private List<String> census() throws InterruptedException {
        List<String> left = new ArrayList<>();
        for (int tries = 0; tries < 20 && clients.isEmpty(); tries++) {
            if (tries % 5 == 1) {
                System.gc();
            }
            left.clear();
            Thread.getAllStackTraces().forEach((thread, stack) -> {
                String name = thread.getName();
                if (name.startsWith("Curator") || name.contains("-SendThread") || name.contains("-EventThread")
                        || name.startsWith("LeaderSelector")) {
                    left.add(name + "\n\t" + String.join("\n\t", Arrays.stream(stack).map(String::valueOf).toArray(String[]::new)));
                }
            });
            if (left.isEmpty()) {
                break;
            }
            Thread.sleep(100);
        }
        return left;
    }
}
