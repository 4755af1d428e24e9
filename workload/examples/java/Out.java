package zkverify.worker;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Writes the worker's lines of JSON, each with its time, in the order of their times. */
final class Out {
    private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);

    private Out() {}

    /** Keeps the output of libraries out of the protocol. */
    static void take() {
        System.setOut(System.err);
    }

    /** An object of the given names and values. */
    static Map<String, Object> fields(Object... pairs) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            fields.put((String) pairs[i], pairs[i + 1]);
        }
        return fields;
    }

    static void say(Object... pairs) {
        say(fields(pairs));
    }

    static void say(Map<String, Object> fields) {
        synchronized (OUT) {
            // On Linux this is CLOCK_MONOTONIC, the clock of the run.
            fields.put("at", System.nanoTime());
            StringBuilder line = new StringBuilder();
            Json.write(line, fields);
            try {
                OUT.write(line.append('\n').toString().getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                // The run does not read any more. The input ends too.
            }
        }
    }

    /** A token of a lease or of a leader: the transaction that created its node. */
    static Map<String, Object> token(long czxid) {
        return fields("zxid", czxid);
    }

    static String session(long id) {
        return String.format("0x%016x", id);
    }
}
