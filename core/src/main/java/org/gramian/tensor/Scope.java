package org.gramian.tensor;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Owner of the tensors that are created while it is the innermost open scope of its thread; closing it frees them.
 *
 * <p>Scopes nest. {@link #keep} moves a result to the enclosing scope, or to the caller if there is none. A tensor
 * created outside every scope belongs to its creator, which closes it.
 *
 * @since 0.1
 */
public final class Scope implements AutoCloseable {
    private static final ThreadLocal<@Nullable Scope> CURRENT = new ThreadLocal<>();

    private final @Nullable Scope enclosing = CURRENT.get();
    private final Set<Tensor> owned = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean closed;

    private Scope() {
        CURRENT.set(this);
    }

    /** Opens a scope on this thread. Scopes must be closed in the reverse order of opening. */
    public static Scope open() {
        return new Scope();
    }

    static void register(Tensor tensor) {
        Scope scope = CURRENT.get();
        if (scope != null) {
            scope.own(tensor);
        }
    }

    /** Moves a tensor of this scope to the enclosing one and returns it; tensors of other scopes are not moved. */
    public Tensor keep(Tensor tensor) {
        if (release(tensor) && enclosing != null) {
            enclosing.own(tensor);
        }
        return tensor;
    }

    private void own(Tensor tensor) {
        owned.add(tensor);
        tensor.owner = this;
    }

    /**
     * Removes a tensor from this scope; the caller then owns it and closes it.
     *
     * @return whether the tensor belonged to this scope
     */
    public boolean release(Tensor tensor) {
        boolean mine = tensor.owner == this;
        if (mine) {
            detach(tensor);
        }
        return mine;
    }

    /** Removes a tensor from the scope that owns it, if any; the caller then owns it and closes it. */
    public static void detach(Tensor tensor) {
        Scope owner = tensor.owner;
        if (owner != null) {
            tensor.owner = null;
            owner.owned.remove(tensor);
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        if (CURRENT.get() != this) {
            throw new IllegalStateException("close a scope in the thread that opened it, innermost first");
        }
        closed = true;
        CURRENT.set(enclosing);
        for (Tensor tensor : owned) {
            tensor.owner = null;
            tensor.close();
        }
        owned.clear();
    }
}
