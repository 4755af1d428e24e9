package zkverify.interop;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** One line of standard input. */
final class Command {
    final String id;
    final String worker;
    final String verb;
    final String client;
    private final String[] arguments;

    Command(String[] words) {
        if (words.length < 4) {
            throw new IllegalArgumentException("a command has an id, a worker, a verb and a client: " + Arrays.toString(words));
        }
        id = words[0];
        worker = words[1];
        verb = words[2];
        client = words[3];
        arguments = Arrays.copyOfRange(words, 4, words.length);
    }

    boolean has(int i) {
        return i < arguments.length;
    }

    String word(int i) {
        return arguments[i];
    }

    int number(int i) {
        return Integer.parseInt(arguments[i]);
    }

    /** The bytes of an argument, or null when it is not there. */
    byte[] bytes(int i) {
        return has(i) ? arguments[i].getBytes(StandardCharsets.UTF_8) : null;
    }

    /** How long to wait, in {@link #UNIT}; -1 with no unit is Curator's word for "for ever". */
    long wait(int i) {
        return has(i) ? Long.parseLong(arguments[i]) : -1;
    }

    TimeUnit unit(int i) {
        return has(i) ? UNIT : null;
    }

    static final TimeUnit UNIT = TimeUnit.MILLISECONDS;
}
