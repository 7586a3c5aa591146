package org.gramian.cli.model;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Answers the signal SIGHUP, by which servers are asked to read their files again.
 *
 * <p>Java has no interface of its own for signals other than to end. {@code sun.misc.Signal}, of the module {@code
 * jdk.unsupported}, is what there is; it is looked up at run time, since the compiler warns of it in a way that cannot be
 * switched off.
 */
final class SighupHandler {
    private static final String NAME = "HUP";

    private SighupHandler() {}

    /** Has something done at every such signal; false where the system has none, as Windows. */
    @SuppressWarnings("ReferenceEquality") // a handler is equal to itself alone
    static boolean onSignal(Runnable work) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object answer = Proxy.newProxyInstance(
                    handler.getClassLoader(), new Class<?>[] {handler}, (proxy, method, arguments) -> {
                        return switch (method.getName()) {
                            case "handle" -> {
                                work.run();
                                yield null;
                            }
                            case "equals" -> proxy == arguments[0];
                            case "hashCode" -> System.identityHashCode(proxy);
                            default -> NAME;
                        };
                    });
            Method handle = signal.getMethod("handle", signal, handler);
            handle.invoke(null, signal.getConstructor(String.class).newInstance(NAME), answer);
            return true;
        } catch (InvocationTargetException _) {
            return false; // no such signal here, or Java keeps it for itself (-Xrs)
        } catch (ReflectiveOperationException _) {
            return false; // a Java without that module
        }
    }
}
