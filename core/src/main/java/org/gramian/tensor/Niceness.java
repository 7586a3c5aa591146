package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Makes a thread give way to all others on Linux, where it then computes only on cores that would be idle.
 *
 * <p>By {@code setpriority(2)}, which on Linux, unlike elsewhere, is of one thread; {@link Thread#setPriority} does nothing
 * there. A thread can become nicer without any rights, but not less nice again. It is here since this package alone
 * calls native code.
 */
public final class Niceness {
    private static final int NICEST = 19;
    private static final int PRIO_PROCESS = 0;
    private static final int CALLING_THREAD = 0;

    /** Linked once: threads come and go with every list of images. */
    private static final Optional<MethodHandle> SETTER = setter();

    private Niceness() {}

    private static Optional<MethodHandle> setter() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return Optional.empty();
        }
        Linker linker = Linker.nativeLinker();
        return Optional.of(linker.downcallHandle(
                linker.defaultLookup().find("setpriority").orElseThrow(),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT)));
    }

    /** For the thread that calls it, as long as it lives. */
    public static void nicest() {
        if (SETTER.isEmpty()) {
            return;
        }
        try {
            int _ = (int) SETTER.get().invokeExact(PRIO_PROCESS, CALLING_THREAD, NICEST); // a failure costs time only
        } catch (Throwable thrown) {
            throw Failures.wrap(thrown);
        }
    }
}
