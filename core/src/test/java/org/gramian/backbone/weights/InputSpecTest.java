package org.gramian.backbone.weights;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.backbone.weights.WeightConversion.InputSpec;
import org.gramian.image.crop.Preprocessing;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class InputSpecTest {
    @Test
    void theFormsThatPeopleWriteAreUnderstood() {
        assertThat(InputSpec.parse("BGR 0..255 minus (104,117,123)")).contains(Preprocessing.CAFFE);
        assertThat(InputSpec.parse("RGB, (x-127)/128")).contains(Preprocessing.TENSORFLOW);
        assertThat(InputSpec.parse(Preprocessing.TORCHVISION.text())).contains(Preprocessing.TORCHVISION);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "BGR",
                "GBR 0..255 minus (104,117,123)",
                "BGR 0..255 minus (1..2,3,4)",
                "BGR 0..255 minus (1,2)",
                "RGB, (x-127)/0",
                "RGB (x-1e9)/2"
            })
    void othersAreNot(String text) {
        assertThat(InputSpec.parse(text)).isEmpty();
    }
}
