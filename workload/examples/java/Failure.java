package zkverify.worker;

/** An error of a command, with a reason that the run understands. */
final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    /** May be null. */
    final String why;

    Failure(String message, String why) {
        super(message);
        this.why = why;
    }

    static Failure notAcquired() {
        return new Failure("another has it", "not-acquired");
    }

    /** The failure of a lease that is no longer held. */
    static Failure lost() {
        return new Failure("lost", "lost");
    }
}
