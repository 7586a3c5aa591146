package org.gramian.spark.executor;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

/** Iterator that maps rows in chunks, so that memory is bounded. */
final class Chunks<T> implements Iterator<T> {
    /** Most rows of a chunk: a multiple of every batch size, so that only the last batch of a partition is padded. */
    static final int MAX_ROWS = 256;

    /** Most bytes of rows and results of a chunk, without the row that exceeds them. */
    static final long MAX_BYTES = 64L << 20;

    private final Iterator<T> rows;
    private final ToLongFunction<T> bytes;
    private final UnaryOperator<List<T>> work;
    private Iterator<T> ready = Collections.emptyIterator();

    /**
     * @param bytes of a row and its result
     * @param work maps a chunk to as many results
     */
    Chunks(Iterator<T> rows, ToLongFunction<T> bytes, UnaryOperator<List<T>> work) {
        this.rows = rows;
        this.bytes = bytes;
        this.work = work;
    }

    @Override
    public boolean hasNext() {
        if (!ready.hasNext() && rows.hasNext()) {
            List<T> chunk = new ArrayList<>();
            long sum = 0;
            while (chunk.size() < MAX_ROWS && sum < MAX_BYTES && rows.hasNext()) {
                chunk.add(rows.next());
                sum += bytes.applyAsLong(chunk.getLast());
            }
            ready = work.apply(chunk).iterator();
        }
        return ready.hasNext();
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException("no more rows");
        }
        return ready.next();
    }
}
