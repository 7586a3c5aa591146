package org.gramian.backbone.weights.format;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory that is used up: files can be mapped, but nothing can be allocated. */
public record FullArena(Arena mapped) implements Arena {
    public FullArena() {
        this(Arena.ofAuto());
    }

    @Override
    public MemorySegment allocate(long byteSize, long byteAlignment) {
        throw new OutOfMemoryError("Cannot reserve " + byteSize + " bytes");
    }

    @Override
    public MemorySegment.Scope scope() {
        return mapped.scope();
    }

    @Override
    public void close() {
        // the collector's
    }
}
