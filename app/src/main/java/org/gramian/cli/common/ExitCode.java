package org.gramian.cli.common;

/** Exit codes of the program, as the guide lists them. */
public final class ExitCode {
    public static final int DONE = 0;
    /** A check failed, or a bug. */
    public static final int FAILED = 1;

    public static final int USAGE = 2;
    public static final int DATA = 3;
    public static final int MODEL = 4;
    /** Interrupted with a checkpoint, or out of time. */
    public static final int INTERRUPTED = 5;
    /** The reader of a pipe exited, as in {@code predict | head}: the code of a process that SIGPIPE ends. */
    public static final int READER_EXITED = 128 + 13;

    private ExitCode() {}
}
