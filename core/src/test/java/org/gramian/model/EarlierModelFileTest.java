package org.gramian.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A model file of the first edition loads and gives the probabilities that the first edition printed. */
class EarlierModelFileTest {
    private static final Path FOLDER = Path.of("src", "test", "resources", "models");
    private static final Map<String, Double> PROBABILITIES =
            Map.of("dots", 0.4958445214836895, "stripes", 0.36742585895539104, "bricks", 0.13672961956091936);

    @Test
    void predictsTheSame() throws IOException {
        try (Classifier classifier = Classifier.load(FOLDER.resolve("first-edition.safetensors"))) {
            Prediction prediction = classifier.predict(FOLDER.resolve("stripes.png"));
            assertThat(prediction.className()).isEqualTo("dots");
            assertThat(prediction.top(3))
                    .hasSize(3)
                    .allSatisfy(one -> assertThat(one.probability())
                            .as(one.name())
                            .isCloseTo(PROBABILITIES.getOrDefault(one.name(), Double.NaN), within(1e-5)));
        }
    }
}
