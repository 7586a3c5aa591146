package org.gramian.tensor;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Predicate;

/**
 * A condition on the values of tensors that is looked at once for each tensor that fulfils it: looking would make a GPU's
 * caller wait for everything that is under way.
 *
 * <p>For tensors whose values do not change in place. It remembers them weakly, and may be used by several threads.
 */
public final class CachedCheck {
    private final Predicate<Tensor> condition;
    private final Set<Tensor> passed = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    public CachedCheck(Predicate<Tensor> condition) {
        this.condition = condition;
    }

    /** Whether a tensor fulfils the condition, or did when it was first asked about. */
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
