package zkverify.interop;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;

/** Writes JSON objects, one a line, whole, in the order of the calls. */
final class Out {
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    private Out() {}

    /** Writes an object of the given keys and values: strings, numbers, booleans, or collections of them. */
    static void line(Object... pairs) {
        StringBuilder text = new StringBuilder("{");
        for (int i = 0; i < pairs.length; i += 2) {
            text.append(i == 0 ? "" : ",");
            value(text, pairs[i]);
            text.append(':');
            value(text, pairs[i + 1]);
        }
        text.append("}\n");
        synchronized (OUT) {
            OUT.print(text);
            OUT.flush();
        }
    }

    private static void value(StringBuilder to, Object value) {
        if (value instanceof Number || value instanceof Boolean) {
            to.append(value);
        } else if (value instanceof Collection) {
            String between = "[";
            for (Object element : (Collection<?>) value) {
                to.append(between);
                value(to, element);
                between = ",";
            }
            to.append(between.equals("[") ? "[]" : "]");
        } else {
            string(to, String.valueOf(value));
        }
    }

    private static void string(StringBuilder to, String text) {
        to.append('"');
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                to.append('\\').append(c);
            } else if (c < ' ') {
                to.append(String.format("\\u%04x", (int) c));
            } else {
                to.append(c);
            }
        }
        to.append('"');
    }
}
