package org.gramian.cli.common;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.gramian.backbone.weights.MissingWeightsException;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.basis.ByteSize;
import org.gramian.basis.FileNames;
import org.gramian.export.graph.NotExpressibleException;
import org.gramian.gallery.Gallery.GalleryFileException;
import org.gramian.image.dataset.DatasetException;
import org.gramian.model.ModelFileException;
import org.gramian.model.UnreadableImageException;
import org.gramian.run.UnfitDataException;
import org.gramian.tensor.library.LibtorchException;
import org.gramian.train.loop.NonFiniteLossException;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;

/** Maps exceptions of commands to error messages and exit codes: one line, which calls a defect of this program one. */
public final class Failures {
    private static final String LOST = "cannot write results: the disk is full, or the reading program has exited";

    private static final String ISSUES = "https://github.com/gramian/gramian/issues";

    private static final Pattern USER_INPUT =
            Pattern.compile("org\\.gramian\\.(?!autodiff\\.|tensor\\.(?!Device\\b)[A-Z]).*");

    private static volatile boolean readerExited;

    private Failures() {}

    /** Returns standard output; unlike {@link System#out} it keeps why writing failed. */
    public static OutputStream standardOutput() {
        return new BufferedOutputStream(new FilterOutputStream(new FileOutputStream(FileDescriptor.out)) {
            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                try {
                    out.write(bytes, offset, length);
                } catch (IOException failed) {
                    readerExited |= "Broken pipe".equals(failed.getMessage());
                    throw failed;
                }
            }
        });
    }

    /** Stops the command if its output is lost. */
    public static void requireWritten(PrintWriter results) {
        if (results.checkError()) {
            throw new UncheckedIOException(new IOException(LOST));
        }
    }

    /** Runs the parsed command. Also reports an {@link OutOfMemoryError}, which picocli does not catch. */
    public static int run(ParseResult parsed) {
        UsageErrors.refuseRepeated(parsed);
        if (HelpLayout.print(last(parsed))) {
            return ExitCode.DONE;
        }
        try {
            int code = new RunLast().execute(parsed);
            CommandLine command = last(parsed).commandSpec().commandLine();
            return command.getOut().checkError() ? lost(code, command) : code;
        } catch (OutOfMemoryError full) {
            return outOfMemory(full, last(parsed).commandSpec().commandLine());
        }
    }

    /** Returns the innermost subcommand, e.g. {@code get} of {@code weights get}. */
    private static ParseResult last(ParseResult parsed) {
        return parsed.hasSubcommand() ? last(parsed.subcommand()) : parsed;
    }

    /** Returns the exit code if standard output could not be written: success becomes a failure. */
    private static int lost(int code, CommandLine line) {
        if (readerExited) { // as head does: it has all that it wants
            return ExitCode.READER_EXITED;
        }
        println(LOST, line);
        return code == ExitCode.DONE ? ExitCode.USAGE : code;
    }

    /** Prints the error message of an exception and returns its exit code; picocli's execution exception handler. */
    public static int report(Exception exception, CommandLine line, ParseResult parsed) {
        for (Throwable cause = exception; cause != null; cause = cause.getCause()) {
            if (cause instanceof OutOfMemoryError full) {
                return outOfMemory(full, line);
            }
        }
        if (Interruption.isCause(exception)) {
            return ExitCode.INTERRUPTED; // a shutdown hook prints the message
        }
        if (readerExited && isLostOutput(exception)) {
            return ExitCode.READER_EXITED;
        }
        trace(exception, line);
        println(CommandHint.in(message(exception)), line);
        return code(exception);
    }

    private static boolean isLostOutput(Exception failure) {
        return failure instanceof UncheckedIOException
                && failure.getCause() instanceof IOException lost
                && LOST.equals(lost.getMessage());
    }

    public static int code(Throwable failed) {
        if (isDefect(failed)) {
            return ExitCode.FAILED;
        }
        return switch (failed) {
            case UncheckedIOException wrapped -> code(Objects.requireNonNull(wrapped.getCause()));
            case DatasetException _, UnreadableImageException _, UnfitDataException _ -> ExitCode.DATA;
            case ModelFileException _, GalleryFileException _, TrainedModel.MissingModelException _ -> ExitCode.MODEL;
            case MissingWeightsException _, UnusableWeightsException _, NotExpressibleException _ -> ExitCode.MODEL;
            case BrokenRunException _ -> ExitCode.INTERRUPTED;
            case OutOfMemoryError _ -> ExitCode.FAILED;
            default -> ExitCode.USAGE;
        };
    }

    /**
     * Returns whether a failure is a defect of this program. The user can mend the others: an {@link IOException}, an {@link
     * IllegalArgumentException} with a message that this program throws, and a few types of its own. A library that throws one
     * rejects what this program gave it, rather than this program what the user gave.
     */
    private static boolean isDefect(Throwable failed) {
        return switch (failed) {
            case IOException _, UncheckedIOException _, InvalidPathException _ -> false;
            case LibtorchException _, NonFiniteLossException _, OutOfMemoryError _ -> false;
            case IllegalArgumentException refused -> refused.getMessage() == null || !isThrownHere(refused);
            default -> true;
        };
    }

    /** Returns whether this program throws it, above tensors and automatic differentiation, which get no input of the user. */
    private static boolean isThrownHere(Throwable failed) {
        StackTraceElement[] trace = failed.getStackTrace();
        return trace.length == 0 || USER_INPUT.matcher(trace[0].getClassName()).matches();
    }

    private static String internal(Throwable failed) {
        return "internal error, a defect of Gramian: " + failed + "; please report it at " + ISSUES
                + " with the command and the output of GRAMIAN_DEBUG=1";
    }

    /** Returns the error message of a failure, without the command name. */
    public static String message(Throwable failed) {
        if (isDefect(failed)) {
            return internal(failed);
        }
        return switch (failed) {
            case UncheckedIOException wrapped -> sentence(Objects.requireNonNull(wrapped.getCause()));
            case IOException wrong -> sentence(wrong);
            case OutOfMemoryError full -> full(full);
            case InvalidPathException wrong when !FileNames.isUtf8() -> FileNames.problem(wrong.getInput());
            default -> text(failed);
        };
    }

    /** Returns the message of an exception; adds the reason where Java's message is only the file name. */
    public static String sentence(IOException exception) {
        return switch (exception) {
            case NoSuchFileException missing
            when missing.getReason() == null -> missing.getFile() + ": no such file or folder";
            case AccessDeniedException locked
            when locked.getReason() == null -> locked.getFile() + ": permission denied";
            case FileSystemException other
            when other.getReason() == null ->
                other.getMessage() + ": " + other.getClass().getSimpleName();
            default -> text(exception);
        };
    }

    private static String text(Throwable exception) {
        String message = exception.getMessage();
        return message == null ? exception.toString() : message;
    }

    private static int outOfMemory(OutOfMemoryError full, CommandLine line) {
        trace(full, line);
        println(full(full), line);
        return ExitCode.FAILED;
    }

    private static String full(OutOfMemoryError full) {
        long most = Runtime.getRuntime().maxMemory();
        return "out of memory (" + full.getMessage() + "; the Java heap has " + ByteSize.text(most)
                + "); try GRAMIAN_JAVA_OPTS=-Xmx" + Math.ceilDiv(2 * most, 1L << 30)
                + "g, or smaller batches, images or files";
    }

    private static void println(String sentence, CommandLine line) {
        line.getErr()
                .println(
                        Console.isJson(line.getCommandSpec())
                                ? Console.json("error", Map.of("text", sentence))
                                : Progress.Bar.eraser() + line.getCommandSpec().qualifiedName() + ": "
                                        + Console.safe(sentence));
        line.getErr().flush();
    }

    private static void trace(Throwable failed, CommandLine line) {
        if (System.getenv("GRAMIAN_DEBUG") != null) {
            PrintWriter err = line.getErr();
            failed.printStackTrace(err);
        }
    }

    /** A run that failed with a checkpoint, as on a full disk, and can be resumed. */
    public static final class BrokenRunException extends IOException {
        private static final long serialVersionUID = 1L;

        public BrokenRunException(IOException reason, Path folder) {
            super(
                    Failures.sentence(reason)
                            + "; the last checkpoint is intact; fix this and resume with: "
                            + CommandHint.of("train", "--resume", folder),
                    reason);
        }
    }
}
