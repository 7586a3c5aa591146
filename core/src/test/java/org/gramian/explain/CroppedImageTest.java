package org.gramian.explain;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.image.Image;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.tensor.DType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CroppedImageTest {
    @ParameterizedTest
    @ValueSource(strings = {"resize:64", "center:64", "ten:64"})
    void whatIsKeptOfALargeImageIsSmallAndExplainsTheSame(String crops) {
        ModelCard card = Models.card(crops);
        Image image = Models.halves(1200, 900);
        CroppedImage view = CroppedImage.of(image, card);
        assertThat(view.bytes()).isLessThan(image.rgb().length / 50);
        try (Model model = Models.random("average", DType.F32)) {
            HeatMap expected = Explainer.explain(model, card, image, 1).heat();
            HeatMap found = Explainer.of(model, card).explain(view, 1).heat();
            assertThat(found.width()).isEqualTo(expected.width());
            assertThat(found.height()).isEqualTo(expected.height());
            for (int i = 0; i < found.width() * found.height(); i++) {
                int x = i % found.width();
                int y = i / found.width();
                assertThat(found.value(x, y)).isEqualTo(expected.value(x, y));
            }
        }
    }
}
