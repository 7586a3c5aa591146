package org.gramian.tensor.library;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.Optional;

/** Environment of this process as native libraries read it when they are loaded; {@link System#getenv} does not change. */
public final class EnvironmentVariables {
    private EnvironmentVariables() {}

    /** Sets variables that are unset. Has no effect on Windows. */
    public static void setUnset(Map<String, String> variables) {
        Linker linker = Linker.nativeLinker();
        Optional<MemorySegment> function = linker.defaultLookup().find("setenv");
        if (function.isEmpty()) {
            return;
        }
        AddressLayout text = ValueLayout.ADDRESS;
        MethodHandle setter = linker.downcallHandle(
                function.get(), FunctionDescriptor.of(ValueLayout.JAVA_INT, text, text, ValueLayout.JAVA_INT));
        try (Arena arena = Arena.ofConfined()) {
            for (Map.Entry<String, String> variable : variables.entrySet()) {
                int _ = (int) setter.invokeExact(
                        arena.allocateFrom(variable.getKey()), arena.allocateFrom(variable.getValue()), 0);
            }
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }
}
