package org.gramian.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** Rows centred to mean 0, so that squared distances keep their digits, in chunks. */
record ChunkedRows(Tensor mean, Tensor centred) {
    /** A chunk of 512 columns takes 16 MB in float32. */
    private static final long CHUNK = 8192;

    /**
     * Checks and centres rows.
     *
     * @throws IllegalArgumentException if they are not finite rows {@code [n, d]} in F32 or F64
     */
    static ChunkedRows of(String method, Tensor rows) {
        boolean exact = rows.type() == DType.F32 || rows.type() == DType.F64;
        if (!exact || rows.shape().rank() != 2 || rows.size(0) < 1 || rows.size(1) < 1) {
            throw new IllegalArgumentException(
                    method + ": expected at least one row [n, d] in F32 or F64, found " + rows);
        }
        if (!rows.allFinite()) {
            throw new IllegalArgumentException(
                    method + ": expected finite rows, found NaN or infinity in " + rows + "; check their source");
        }
        Tensor mean = rows.sum(0).mul(1.0 / rows.size(0));
        return new ChunkedRows(mean, rows.sub(mean));
    }

    long count() {
        return centred.size(0);
    }

    long width() {
        return centred.size(1);
    }

    /** Consumer of a chunk and the index of its first row. */
    interface ChunkConsumer {
        void accept(Tensor chunk, long start, Scope scope);
    }

    /** Passes views of a few thousand rows each, in order, each in a scope of its own. */
    void forEach(ChunkConsumer consumer) {
        for (long start = 0; start < count(); start += CHUNK) {
            try (Scope scope = Scope.open()) {
                consumer.accept(centred.slice(0, start, Math.min(count(), start + CHUNK)), start, scope);
            }
        }
    }

    Tensor mapChunks(UnaryOperator<Tensor> function) {
        List<Tensor> parts = new ArrayList<>();
        forEach((chunk, _, scope) -> parts.add(scope.keep(function.apply(chunk))));
        return Tensors.concat(parts, 0);
    }

    /** Returns the squared norms, {@code [n, 1]}. */
    Tensor squaredLengths() {
        return mapChunks(ChunkedRows::squares);
    }

    static Tensor squares(Tensor rows) {
        return rows.mul(rows).sum(1);
    }

    Tensor row(long place) {
        return centred.slice(0, place, place + 1);
    }

    Tensor zeros(long... sizes) {
        return Tensors.zeros(Shape.of(sizes), centred.type(), centred.device());
    }

    double rounding() {
        return centred.type() == DType.F64 ? 0x1p-53 : 0x1p-24;
    }
}
