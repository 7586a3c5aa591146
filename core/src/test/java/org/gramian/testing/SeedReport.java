package org.gramian.testing;

import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/** Puts the seed in front of the message of a failed {@link RandomTest}. */
final class SeedReport implements InvocationInterceptor {
    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        try {
            invocation.proceed();
        } catch (TestAbortedException skipped) {
            throw skipped;
        } catch (AssertionError | Exception failed) {
            throw new AssertionError(method.getArguments().getFirst() + ": " + failed.getMessage(), failed);
        }
    }
}
