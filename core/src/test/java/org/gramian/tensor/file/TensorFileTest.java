package org.gramian.tensor.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Random;
import java.util.SequencedMap;
import org.gramian.tensor.DType;
import org.junit.jupiter.api.Test;

final class TensorFileTest {
    private final StoredTensor tensor = SampleTensors.tensor(DType.F32, new Random(1));

    @Test
    void tensorIsFoundByName() throws IOException {
        assertThat(file("features", "labels").get("labels")).isSameAs(tensor);
    }

    @Test
    void missingNameListsExistingNames() {
        assertThatExceptionOfType(TensorFileException.class)
                .isThrownBy(() -> file("features", "labels").get("upstream"))
                .has(facts("some.safetensors", "upstream", "features", "labels"));
    }

    @Test
    void emptyFileIsReported() {
        assertThatExceptionOfType(TensorFileException.class)
                .isThrownBy(() -> file().get("features"))
                .has(facts("some.safetensors", "features"));
    }

    @Test
    void atMostTwentyNamesAreListed() {
        String[] names = new Random(1).ints(25).mapToObj(Integer::toString).toArray(String[]::new);
        assertThatExceptionOfType(TensorFileException.class)
                .isThrownBy(() -> file(names).get("features"))
                .withMessageContaining(names[19])
                .has(facts("5"));
    }

    @Test
    void controlCharactersInNamesAreReplaced() {
        assertThatExceptionOfType(TensorFileException.class)
                .isThrownBy(() -> file("\u001b[2J" + "x".repeat(200)).get("features"))
                .has(facts("\uFFFD[2J" + "x".repeat(116) + "…"));
    }

    @Test
    void mapsAreUnmodifiable() {
        TensorFile file = file("features");
        assertThatThrownBy(() -> file.tensors().clear()).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> file.metadata().put("a", "b")).isInstanceOf(UnsupportedOperationException.class);
    }

    private TensorFile file(String... names) {
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        for (String name : names) {
            tensors.put(name, tensor);
        }
        return new TensorFile(Path.of("some.safetensors"), tensors, new LinkedHashMap<>());
    }
}
