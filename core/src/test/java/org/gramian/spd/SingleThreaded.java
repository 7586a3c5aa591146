package org.gramian.spd;

import org.gramian.tensor.library.Libtorch;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs the tests of a class with one thread per operator: their matrices are so small that threads only wait for each
 * other, for minutes where other processes want the same cores.
 */
public final class SingleThreaded implements BeforeAllCallback, AfterAllCallback {
    private int former = 1;

    @Override
    public void beforeAll(ExtensionContext context) {
        former = Libtorch.load().threads();
        Libtorch.load().setThreads(1);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        Libtorch.load().setThreads(former);
    }
}
