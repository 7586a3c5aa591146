package org.gramian.autodiff;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.Tensor;
import org.jspecify.annotations.Nullable;

/** Work of a backward pass that a {@link Scheduler} may run beside it: gradients of parameters, and hooks on final gradients. */
final class GradientHooks {
    /** Work that waits for a gradient, and the number of inputs of nodes that still contribute to it. */
    private static final class Hook {
        final Consumer<@Nullable Tensor> work;
        int uses;
        boolean done;

        Hook(Consumer<@Nullable Tensor> work) {
            this.work = work;
        }
    }

    private final Scheduler scheduler;
    private final Map<Var, Hook> hooks = new HashMap<>();
    /** Variables whose gradients the scheduler computes: they can be read after it has joined. */
    private final Set<Var> scheduled = new HashSet<>();

    GradientHooks(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    void add(Var variable, Consumer<@Nullable Tensor> work) {
        if (hooks.putIfAbsent(variable, new Hook(work)) != null) {
            throw new IllegalStateException(variable + " already has a hook");
        }
    }

    /** Counts an input of a node before the backward pass. */
    void count(Var input) {
        Hook hook = hooks.get(input);
        if (hook != null) {
            hook.uses++;
        }
    }

    /** Computes gradients of leaves; runs the hooks of those that no other node uses. */
    List<@Nullable Tensor> compute(List<Var> leaves, List<Tensor> reads, Supplier<List<@Nullable Tensor>> work) {
        scheduled.addAll(leaves);
        return scheduler.run(reads, () -> {
            List<@Nullable Tensor> gradients = work.get();
            for (int i = 0; i < gradients.size(); i++) {
                Hook hook = hooks.get(leaves.get(i));
                if (hook != null && hook.uses == 1 && !hook.done) {
                    hook.done = true;
                    hook.work.accept(gradients.get(i));
                }
            }
            return gradients;
        });
    }

    /** Runs the hook of a variable that no other node uses. */
    void finished(Var variable, Tensor gradient) {
        Hook hook = hooks.get(variable);
        if (hook != null && hook.uses == 1) {
            run(hook, gradient);
        }
    }

    /** Counts an input of a node as processed; after the last one its gradient is final. */
    void release(Var input, @Nullable Tensor gradient) {
        Hook hook = hooks.get(input);
        if (hook != null && --hook.uses == 0 && gradient != null) {
            run(hook, gradient);
        }
    }

    /** Makes a gradient readable. */
    void await(Var variable) {
        if (scheduled.contains(variable)) {
            scheduler.join();
        }
    }

    /** Runs the hooks that are left and makes all gradients readable. */
    void finish(Map<Var, Tensor> gradients) {
        hooks.forEach((variable, hook) -> run(hook, gradients.get(variable)));
        scheduler.join();
    }

    private void run(Hook hook, @Nullable Tensor gradient) {
        if (!hook.done) {
            hook.done = true;
            scheduler.run(gradient == null ? List.of() : List.of(gradient), () -> {
                hook.work.accept(gradient);
                return List.of();
            });
        }
    }
}
