package org.gramian.tensor;

import java.util.Arrays;
import org.gramian.tensor.library.LibtorchException;
import org.jspecify.annotations.Nullable;

/** Exceptions for failed native calls, which name the operation and its arguments. */
final class NativeErrors {
    private NativeErrors() {}

    static void check(int code, String operation) {
        if (code != 0) {
            throw of(operation);
        }
    }

    static LibtorchException of(String operation, @Nullable Object... arguments) {
        String given = arguments.length == 0 ? "" : " of " + Arrays.toString(arguments);
        return new LibtorchException(
                operation + given + " failed in libtorch " + Libtorch.load().version() + " (its message is on stderr)");
    }

    /** Converts the {@link Throwable} of a method handle for {@code throw wrap(thrown)}; rethrows errors. */
    static RuntimeException wrap(Throwable thrown) {
        if (thrown instanceof RuntimeException exception) {
            return exception;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        return new LibtorchException("a call into libtorch failed", thrown);
    }
}
