package org.gramian.spark.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.Stream;
import org.apache.spark.sql.RowFactory;
import org.junit.jupiter.api.Test;

class ChunksTest {
    @Test
    void rowsKeepOrderInChunksOfBoundedSize() {
        List<Integer> sizes = new ArrayList<>();
        Iterator<Integer> rows = Stream.iterate(0, i -> i + 1).limit(600).iterator();
        Chunks<Integer> chunks = new Chunks<>(rows, _ -> 0, chunk -> {
            sizes.add(chunk.size());
            return chunk.stream().map(i -> -i).toList();
        });

        List<Integer> seen = new ArrayList<>();
        chunks.forEachRemaining(seen::add);

        assertThat(seen).isEqualTo(Stream.iterate(0, i -> i - 1).limit(600).toList());
        assertThat(sizes).containsExactly(256, 256, 88);
        assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(chunks::next);
    }

    @Test
    void chunksAreBoundedInBytes() {
        List<List<Long>> taken = new ArrayList<>();
        Iterator<Long> rows =
                List.of(Chunks.MAX_BYTES * 2, 1L, Chunks.MAX_BYTES, 5L).iterator();
        new Chunks<>(rows, size -> size, chunk -> {
                    taken.add(chunk);
                    return chunk;
                })
                .forEachRemaining(_ -> {});

        assertThat(taken).containsExactly(List.of(Chunks.MAX_BYTES * 2), List.of(1L, Chunks.MAX_BYTES), List.of(5L));
    }

    @Test
    void allColumnsOfARowCount() {
        assertThat(ImageColumn.bytes(RowFactory.create("path", new byte[100], null, 7, new byte[20])))
                .isEqualTo(124);
    }
}
