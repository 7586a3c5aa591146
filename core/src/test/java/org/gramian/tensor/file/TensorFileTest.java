package org.gramian.tensor.file;

import static org.gramian.testing.Facts.assertRejected;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Random;
import java.util.SequencedMap;
import org.gramian.tensor.DType;
import org.junit.jupiter.api.Test;

final class TensorFileTest {
    private final StoredTensor tensor = SampleTensors.tensor(DType.F32, new Random(1));

    @Test
    void missingNameListsExistingNames() {
        assertRejected(
                TensorFileException.class,
                () -> file("features", "labels").get("upstream"),
                "some.safetensors",
                "upstream",
                "features",
                "labels");
    }

    @Test
    void controlCharactersInNamesAreReplaced() {
        assertRejected(
                TensorFileException.class,
                () -> file("\u001b[2J" + "x".repeat(200)).get("features"),
                "\uFFFD[2J" + "x".repeat(116) + "…");
    }

    private TensorFile file(String... names) {
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        for (String name : names) {
            tensors.put(name, tensor);
        }
        return new TensorFile(Path.of("some.safetensors"), tensors, new LinkedHashMap<>());
    }
}
