package zkverify.worker;

import java.util.Map;

/** One recipe of a library, used by clients of one kind. A further one is a class like this. */
abstract class Recipe<C extends Client> {
    /** The source of the promises: the library's own documentation, and nothing else. */
    abstract Map<String, Object> promises(boolean polite);

    /** The run's name of such a recipe. */
    abstract String kind();

    /** The class that the worker tests. */
    abstract Class<?> of();

    /** Whether clients hold leases, which they may have lost without looking. */
    boolean held() {
        return true;
    }

    /**
     * Acquires, or enters, on the owner's thread, which is interrupted when the command is cancelled.
     *
     * @throws Failure of a try, when another client has the lock
     */
    Lease acquire(C client, Owner owner, Command command) throws Exception {
        throw new Failure("nobody acquires a " + kind(), null);
    }

    /** Carries out a command that acquires no lease. The thread is interrupted when it is cancelled. */
    Map<String, Object> operate(C client, Command command) throws Exception {
        throw new Failure("a " + kind() + " has no " + command.what, null);
    }
}
