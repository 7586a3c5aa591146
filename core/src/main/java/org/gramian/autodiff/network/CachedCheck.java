package org.gramian.autodiff.network;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Predicate;
import org.gramian.tensor.Tensor;

/**
 * Condition on the values of tensors that is evaluated once per tensor: evaluation makes the caller wait for the GPU.
 *
 * <p>The tensors must not change in place. They are remembered weakly. Thread-safe.
 */
public final class CachedCheck {
    private final Predicate<Tensor> condition;
    private final Set<Tensor> passed = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    /** Creates a check of a condition. */
    public CachedCheck(Predicate<Tensor> condition) {
        this.condition = condition;
    }

    /** Returns whether a tensor fulfils the condition, or did so at an earlier call. */
    public boolean holds(Tensor tensor) {
        if (passed.contains(tensor)) {
            return true;
        }
        boolean holds = condition.test(tensor);
        if (holds) {
            passed.add(tensor);
        }
        return holds;
    }
}
