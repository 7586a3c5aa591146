package org.gramian.tensor;

import java.util.Arrays;
import org.gramian.tensor.library.LibtorchException;
import org.jspecify.annotations.Nullable;

/** Turns what goes wrong in a native call into an exception that names the operation and its arguments. */
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

    /** For {@code throw wrap(thrown)} after a method handle's {@link Throwable}: errors go on as they are. */
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
