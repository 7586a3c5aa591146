package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What libtorch and the libraries beside it are told by environment variables, which they read once, when they are loaded:
 * set in this process just before, so that it holds for every user of the library. What a user has set stays.
 *
 * <ul>
 *   <li>Large tensors lie in pages of 2 MiB. Their memory comes from the system and goes back all the time, and finding
 *       pages of 4 KiB for it, one by one, was a tenth of a training step.
 *   <li>Threads without work sleep at once instead of waiting actively for about 15 ms, libgomp's own setting: beside other
 *       work, those who wait would take the cores from those who are waited for.
 * </ul>
 */
final class LoadingVariables {
    static final String HUGE_PAGES = "THP_MEM_ALLOC_ENABLE";
    static final String SPINS = "GOMP_SPINCOUNT";
    static final String WAITING = "OMP_WAIT_POLICY";

    private LoadingVariables() {}

    /** What is to be set where the environment is as given. */
    static Map<String, String> wanted(Map<String, String> environment) {
        Map<String, String> variables = new LinkedHashMap<>();
        variables.put(HUGE_PAGES, "1");
        if (!environment.containsKey(SPINS)) {
            variables.put(WAITING, "passive");
        }
        variables.keySet().removeAll(environment.keySet());
        return variables;
    }

    /** Sets them, on Linux, whose libraries know them. */
    static void set() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return;
        }
        Linker linker = Linker.nativeLinker();
        MethodHandle setter = linker.downcallHandle(
                linker.defaultLookup().find("setenv").orElseThrow(),
                FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
        try (Arena arena = Arena.ofConfined()) {
            for (Map.Entry<String, String> variable : wanted(System.getenv()).entrySet()) {
                // a failure costs time only
                int _ = (int) setter.invokeExact(
                        arena.allocateFrom(variable.getKey()), arena.allocateFrom(variable.getValue()), 0);
            }
        } catch (Throwable thrown) {
            throw Failures.wrap(thrown);
        }
    }
}
