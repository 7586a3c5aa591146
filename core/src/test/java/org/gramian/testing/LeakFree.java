package org.gramian.testing;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.tensor.Tensor;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/** Asserts that each test of a class leaves as many tensors as it found; before {@link Scoped}, if the class has both. */
public final class LeakFree implements BeforeEachCallback, AfterEachCallback {
    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(Namespace.create(LeakFree.class, context.getUniqueId()))
                .put(Tensor.class, Tensor.live());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        long before = context.getStore(Namespace.create(LeakFree.class, context.getUniqueId()))
                .remove(Tensor.class, Long.class);
        assertThat(Tensor.live()).as("live tensors").isEqualTo(before);
    }
}
