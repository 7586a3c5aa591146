package org.gramian.export;

/** Hands on what holds native memory only if what must follow its opening succeeds, and closes it else. */
final class CloseOnFailure {
    private CloseOnFailure() {}

    /** What must succeed before something opened is handed on. */
    interface Step<X extends Exception> {
        void run() throws X;
    }

    /** What was opened, after the step; closed if the step fails, whatever it fails of. */
    static <T extends AutoCloseable, X extends Exception> T unlessFails(T opened, Step<X> step) throws X {
        try {
            step.run();
            return opened;
        } catch (Throwable failed) {
            try {
                opened.close();
            } catch (Exception further) {
                failed.addSuppressed(further);
            }
            throw failed;
        }
    }
}
