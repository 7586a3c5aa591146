package org.gramian.tensor.library;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Exceptions for failed native calls, which name the operation and its arguments. */
public final class NativeErrors {
    private NativeErrors() {}

    /** Native call that returns an error code. */
    @FunctionalInterface
    public interface Call {
        int run() throws Throwable;
    }

    /** Runs a call; throws an exception that names the operation if it fails. */
    public static void call(String operation, Call call) {
        try {
            check(call.run(), operation);
        } catch (Throwable thrown) {
            throw wrap(thrown);
        }
    }

    /** Throws an exception if a call returned an error code. */
    public static void check(int code, String operation) {
        if (code != 0) {
            throw of(operation);
        }
    }

    public static LibtorchException of(String operation, @Nullable Object... arguments) {
        String given = arguments.length == 0 ? "" : " of " + Arrays.toString(arguments);
        return new LibtorchException(
                operation + given + " failed in libtorch " + Libtorch.load().version() + " (its message is on stderr)");
    }

    /** Converts the {@link Throwable} of a method handle for {@code throw wrap(thrown)}; rethrows errors. */
    public static RuntimeException wrap(Throwable thrown) {
        if (thrown instanceof RuntimeException exception) {
            return exception;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        return new LibtorchException("a call into libtorch failed", thrown);
    }
}
