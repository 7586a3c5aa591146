package org.gramian.testing;

import org.gramian.tensor.Scope;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Opens a scope for each test of a class and frees its tensors afterwards. */
public final class Scoped implements BeforeEachCallback, AfterEachCallback {
    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(ExtensionContext.Namespace.create(Scoped.class, context.getUniqueId()))
                .put(Scope.class, Scope.open());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        context.getStore(ExtensionContext.Namespace.create(Scoped.class, context.getUniqueId()))
                .remove(Scope.class, Scope.class)
                .close();
    }
}
