package zkverify.worker;

import java.util.Map;

/** A library whose recipes a worker hosts. */
interface Library<C extends Client> {
    /** For the name of the hosted lock, with the version: "curator-5.4.0". */
    String name();

    /** For people: "Apache Curator". */
    String title();

    /** A description of a polite holder. */
    String manners();

    Recipe<C> recipe(String name);

    C client(int number, Map<?, ?> env, boolean polite);

    /** The version that the script has found, and a hyphen before it; nothing if it does not know it. */
    static String version() {
        String set = System.getProperty("zkverify.version", "");
        return set.isEmpty() ? "" : "-" + set;
    }
}
