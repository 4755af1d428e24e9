package zkverify.worker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A line from the run. */
final class Command {
    private final Map<?, ?> fields;
    final long id;
    final String what;
    final int client;
    private volatile boolean cancelled;

    Command(String line) {
        Object value = Json.parse(line);
        if (!(value instanceof Map)) {
            throw new IllegalArgumentException("no command: " + line);
        }
        fields = (Map<?, ?>) value;
        id = number("id");
        what = text("do");
        client = (int) number("client");
    }

    String text(String name) {
        Object value = fields.get(name);
        return value == null ? "" : String.valueOf(value);
    }

    long number(String name) {
        Object value = fields.get(name);
        return value instanceof Number ? ((Number) value).longValue() : 0;
    }

    /** The names of several locks, empty if it is about one. */
    List<String> texts(String name) {
        List<String> texts = new ArrayList<>();
        if (fields.get(name) instanceof List) {
            for (Object each : (List<?>) fields.get(name)) {
                texts.add(String.valueOf(each));
            }
        }
        return texts;
    }

    Map<?, ?> env() {
        return (Map<?, ?>) fields.get("env");
    }

    /** Of an acquire: whether it waits for others. */
    boolean waits() {
        return !what.equals("try-acquire");
    }

    void cancel() {
        cancelled = true;
    }

    /** Throws if it has been cancelled. */
    void check() throws InterruptedException {
        if (cancelled) {
            throw new InterruptedException("cancelled");
        }
    }
}
