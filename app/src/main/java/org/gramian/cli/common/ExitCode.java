package org.gramian.cli.common;

/** Exit codes of the program, as the guide lists them. */
public final class ExitCode {
    /** Success; also when the time budget is used up and a model exists. */
    public static final int DONE = 0;
    /** A failed check, or an internal error: a defect of this program. */
    public static final int FAILED = 1;
    /** Wrong options, configuration or files, which the user can mend. */
    public static final int USAGE = 2;
    /** Data errors, or unreadable images were skipped. */
    public static final int DATA = 3;
    /** Missing or unusable model or weights. */
    public static final int MODEL = 4;
    /** Interrupted, or out of time without a model; can be resumed. */
    public static final int INTERRUPTED = 5;
    /** The reader of a pipe exited, as in {@code predict | head}: the code of a process that SIGPIPE ends. */
    public static final int READER_EXITED = 128 + 13;

    private ExitCode() {}
}
