package org.gramian.tensor.library;

import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Error messages of the cache folder, each with the path and a remedy. */
final class UnpackingFailures {
    private static final long MEGABYTE = 1_000_000;

    private UnpackingFailures() {}

    static LibtorchException notWritable(Path folder, IOException cause) {
        return new LibtorchException(
                "libtorch is unpacked into the cache folder " + folder
                        + ", which must be a writable folder; found that " + reason(folder, cause) + ". "
                        + wayOut("a writable folder"),
                cause);
    }

    static LibtorchException notEnoughSpace(Path folder, long needed, long free) {
        return new LibtorchException(
                "unpacking libtorch into " + folder + " needs " + megabytes(needed) + ", only " + megabytes(free)
                        + " are free. Free disk space, or " + lowerFirst(wayOut("a folder on a larger disk")));
    }

    static LibtorchException diskFull(Path folder, long needed, IOException cause) {
        return new LibtorchException(
                "the disk became full while unpacking libtorch (" + megabytes(needed) + ") into " + folder
                        + "; partial files were removed. Free disk space, or "
                        + lowerFirst(wayOut("a folder on a larger disk")),
                cause);
    }

    static LibtorchException damagedArtifact(URI location, IOException cause) {
        return new LibtorchException(
                location + " cannot be unpacked: " + cause.getMessage()
                        + ". The artifact is damaged: delete its jar from"
                        + " the local Maven repository, so that it is downloaded again",
                cause);
    }

    /**
     * Returns whether a write failed for lack of space; Java has no exception type for it, only the system's message.
     */
    static boolean isDiskFull(IOException e) {
        String text = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
        return text.contains("no space left") || text.contains("not enough space") || text.contains("quota exceeded");
    }

    static String megabytes(long bytes) {
        return bytes < MEGABYTE ? bytes + " bytes" : Math.ceilDiv(bytes, MEGABYTE) + " MB";
    }

    private static String reason(Path folder, IOException cause) {
        Path existing = folder;
        while (!Files.exists(existing) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        if (!Files.isDirectory(existing)) {
            return existing + " is a file";
        }
        if (cause instanceof AccessDeniedException || !Files.isWritable(existing)) {
            return existing + " is not writable";
        }
        String detail = cause instanceof FileSystemException system ? system.getReason() : cause.getMessage();
        return "writing below " + existing + " fails"
                + (detail == null ? " with " + cause.getClass().getSimpleName() : ": " + detail);
    }

    private static String wayOut(String what) {
        return "Set the environment variable " + LibtorchSettings.CACHE_VARIABLE + " to " + what + ", or "
                + LibtorchSettings.FOLDER_VARIABLE + " to an installed libtorch";
    }

    private static String lowerFirst(String text) {
        return text.substring(0, 1).toLowerCase(Locale.ROOT) + text.substring(1);
    }
}
