package zkverify.worker;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON: objects are Maps, arrays Lists, numbers Long or Double. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads one value, and nothing after it. */
    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        if (json.peek() != 0) {
            throw json.wrong();
        }
        return value;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at + ": " + text);
    }

    /** The next character that is no space, 0 at the end. */
    private char peek() {
        while (at < text.length() && text.charAt(at) <= ' ') {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private boolean accept(char c) {
        if (peek() != c) {
            return false;
        }
        at++;
        return true;
    }

    private void expect(char c) {
        if (!accept(c)) {
            throw wrong();
        }
    }

    private Object value() {
        switch (peek()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong();
        }
        at += word.length();
        return value;
    }

    private Map<String, Object> object() {
        Map<String, Object> fields = new LinkedHashMap<>();
        expect('{');
        if (accept('}')) {
            return fields;
        }
        do {
            String name = string();
            expect(':');
            fields.put(name, value());
        } while (accept(','));
        expect('}');
        return fields;
    }

    private List<Object> array() {
        List<Object> elements = new ArrayList<>();
        expect('[');
        if (accept(']')) {
            return elements;
        }
        do {
            elements.add(value());
        } while (accept(','));
        expect(']');
        return elements;
    }

    private Object number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(from, at);
        try {
            return Long.valueOf(number);
        } catch (NumberFormatException e) {
            try {
                return Double.valueOf(number);
            } catch (NumberFormatException e2) {
                throw wrong();
            }
        }
    }

    private String string() {
        expect('"');
        StringBuilder s = new StringBuilder();
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '"') {
                return s.toString();
            }
            s.append(c == '\\' ? escaped() : c);
        }
        throw wrong();
    }

    private char escaped() {
        if (at >= text.length()) {
            throw wrong();
        }
        char c = text.charAt(at++);
        switch (c) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'u':
                if (at + 4 > text.length()) {
                    throw wrong();
                }
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default:
                return c;
        }
    }

    /** Writes a value to the end of a text. */
    static void write(StringBuilder to, Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            to.append(value);
        } else if (value instanceof Map) {
            String between = "{";
            for (Map.Entry<?, ?> e : ((Map<?, ?>) value).entrySet()) {
                to.append(between);
                string(to, String.valueOf(e.getKey()));
                to.append(':');
                write(to, e.getValue());
                between = ",";
            }
            to.append(between.equals("{") ? "{}" : "}");
        } else if (value instanceof Collection) {
            String between = "[";
            for (Object element : (Collection<?>) value) {
                to.append(between);
                write(to, element);
                between = ",";
            }
            to.append(between.equals("[") ? "[]" : "]");
        } else {
            string(to, String.valueOf(value));
        }
    }

    private static void string(StringBuilder to, String s) {
        to.append('"');
        for (char c : s.toCharArray()) {
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
