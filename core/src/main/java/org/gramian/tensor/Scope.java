package org.gramian.tensor;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Owner of the tensors made while it is the innermost open scope of its thread: closing it frees them.
 *
 * <p>Scopes nest. A result leaves its scope by {@link #keep}, which hands it to the enclosing scope, or to the caller
 * where there is none. A tensor made outside every scope belongs to its maker, who closes it.
 */
public final class Scope implements AutoCloseable {
    private static final ThreadLocal<@Nullable Scope> CURRENT = new ThreadLocal<>();

    private final @Nullable Scope enclosing = CURRENT.get();
    private final Set<Tensor> owned = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean closed;

    private Scope() {
        CURRENT.set(this);
    }

    /** Opens a scope on this thread; close it in the reverse order of opening. */
    public static Scope open() {
        return new Scope();
    }

    static void register(Tensor tensor) {
        Scope scope = CURRENT.get();
        if (scope != null) {
            scope.own(tensor);
        }
    }

    /** Hands a tensor of this scope to the enclosing one; returns it. Tensors of other owners stay where they are. */
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
     * Takes a tensor out of this scope, if it belongs to it: from then on it belongs to the caller, who closes it.
     *
     * @return whether it belonged to this scope
     */
    public boolean release(Tensor tensor) {
        boolean mine = tensor.owner == this;
        if (mine) {
            detach(tensor);
        }
        return mine;
    }

    /** Takes a tensor out of whatever scope owns it: from then on it belongs to the caller, who closes it. */
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
