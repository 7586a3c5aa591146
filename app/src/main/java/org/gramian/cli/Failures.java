package org.gramian.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.util.Objects;
import org.gramian.backbone.weights.MissingWeightsException;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.basis.FileNames;
import org.gramian.export.graph.NotExpressibleException;
import org.gramian.gallery.GalleryFileException;
import org.gramian.image.dataset.DatasetException;
import org.gramian.model.ModelFileException;
import org.gramian.model.UnreadablePictureException;
import org.gramian.run.UnfitDataException;
import org.gramian.tensor.library.LibtorchException;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;

/** What is said when a command fails: what a person did wrong is one sentence; what we did wrong says so. */
final class Failures {
    private Failures() {}

    /** Runs the command that was typed; a full memory, which picocli does not care for, is said like any other failure. */
    static int run(ParseResult parsed) {
        RepeatedOptions.refuse(parsed);
        try {
            int code = new RunLast().execute(parsed);
            return typed(parsed).getOut().checkError() ? lost(code, typed(parsed)) : code;
        } catch (OutOfMemoryError full) {
            return outOfMemory(full, typed(parsed));
        }
    }

    private static CommandLine typed(ParseResult parsed) {
        return parsed.hasSubcommand()
                ? typed(parsed.subcommand())
                : parsed.commandSpec().commandLine();
    }

    /** Results that reached nobody are no success. */
    private static int lost(int code, CommandLine line) {
        println(Written.LOST, line);
        return code == Main.DONE ? Main.USAGE : code;
    }

    static int say(Exception exception, CommandLine line, ParseResult parsed) {
        for (Throwable cause = exception; cause != null; cause = cause.getCause()) {
            if (cause instanceof OutOfMemoryError full) {
                return outOfMemory(full, line);
            }
        }
        trace(exception, line);
        println(said(exception), line);
        return code(exception);
    }

    /** The exit code of a failure. */
    static int code(Throwable failed) {
        return switch (failed) {
            case UncheckedIOException wrapped -> code(Objects.requireNonNull(wrapped.getCause()));
            case DatasetException _ -> Main.DATA;
            case UnreadablePictureException _ -> Main.DATA;
            case UnfitDataException _ -> Main.DATA;
            case ModelFileException _ -> Main.MODEL;
            case GalleryFileException _ -> Main.MODEL;
            case MissingModelException _ -> Main.MODEL;
            case MissingWeightsException _ -> Main.MODEL;
            case UnusableWeightsException _ -> Main.MODEL;
            case NotExpressibleException _ -> Main.MODEL;
            case BrokenRunException _ -> Main.INTERRUPTED;
            case IOException _ -> Main.USAGE;
            case IllegalArgumentException _ -> Main.USAGE;
            case IllegalStateException _ -> Main.USAGE;
            case LibtorchException _ -> Main.USAGE;
            default -> Main.FAILED;
        };
    }

    /** What is said of a failure, in a sentence. */
    static String said(Throwable failed) {
        return switch (failed) {
            case UncheckedIOException wrapped -> sentence(Objects.requireNonNull(wrapped.getCause()));
            case IOException wrong -> sentence(wrong);
            case OutOfMemoryError full -> full(full);
            case InvalidPathException wrong when !FileNames.isUtf8() -> FileNames.problem(wrong.getInput());
            case IllegalArgumentException wrong -> message(wrong);
            case IllegalStateException wrong -> message(wrong);
            case LibtorchException wrong -> message(wrong);
            default ->
                "internal error: " + failed
                        + "; please report it with what you typed and the output of GRAMIAN_DEBUG=1";
        };
    }

    /** Java names only the file where it is missing or locked. */
    static String sentence(IOException exception) {
        return switch (exception) {
            case NoSuchFileException missing
            when missing.getReason() == null -> missing.getFile() + ": there is no such file or folder";
            case AccessDeniedException locked
            when locked.getReason() == null -> locked.getFile() + ": this user may not read or write it";
            case FileSystemException other
            when other.getReason() == null ->
                other.getMessage() + ": " + other.getClass().getSimpleName();
            default -> message(exception);
        };
    }

    private static String message(Exception exception) {
        String message = exception.getMessage();
        return message == null ? exception.toString() : message;
    }

    private static int outOfMemory(OutOfMemoryError full, CommandLine line) {
        trace(full, line);
        println(full(full), line);
        return Main.FAILED;
    }

    private static String full(OutOfMemoryError full) {
        long most = Runtime.getRuntime().maxMemory();
        return "memory is full (" + full.getMessage() + "; Java may take " + Sizes.text(most)
                + "): allow more by GRAMIAN_JAVA_OPTS=-Xmx" + Math.ceilDiv(2 * most, 1L << 30)
                + "g, or take smaller batches, images or files";
    }

    private static void println(String sentence, CommandLine line) {
        line.getErr().println(line.getCommandSpec().qualifiedName() + ": " + sentence);
        line.getErr().flush();
    }

    private static void trace(Throwable failed, CommandLine line) {
        if (System.getenv("GRAMIAN_DEBUG") != null) {
            PrintWriter err = line.getErr();
            failed.printStackTrace(err);
        }
    }
}
