package org.gramian.spark.executor;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

/**
 * Goes through rows some at a time: a number of them is taken in, worked on together and handed out, so that memory is bounded
 * however long the partition is.
 */
public final class Chunks<T> implements Iterator<T> {
    /** Rows at most: a multiple of every batch, so that only a partition's last batch is padded. */
    static final int MOST_ROWS = 256;

    /** Bytes of rows and results at most, beside the row that exceeds them. */
    static final long MOST_BYTES = 64L << 20;

    private final Iterator<T> rows;
    private final ToLongFunction<T> bytes;
    private final UnaryOperator<List<T>> work;
    private Iterator<T> ready = Collections.emptyIterator();

    /**
     * @param bytes of a row and of what becomes of it
     * @param work what becomes of rows, as many as they are
     */
    Chunks(Iterator<T> rows, ToLongFunction<T> bytes, UnaryOperator<List<T>> work) {
        this.rows = rows;
        this.bytes = bytes;
        this.work = work;
    }

    @Override
    public boolean hasNext() {
        if (!ready.hasNext() && rows.hasNext()) {
            ready = work.apply(take(rows, bytes)).iterator();
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

    /** The next rows, as many as are to be worked on together. */
    public static <T> List<T> take(Iterator<T> rows, ToLongFunction<T> bytes) {
        List<T> taken = new ArrayList<>();
        long sum = 0;
        while (taken.size() < MOST_ROWS && sum < MOST_BYTES && rows.hasNext()) {
            T row = rows.next();
            taken.add(row);
            sum += bytes.applyAsLong(row);
        }
        return taken;
    }
}
