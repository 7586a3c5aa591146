package org.gramian.explain.gradient;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.List;
import org.gramian.explain.Explanation;
import org.gramian.explain.Explanation.ChannelPair;
import org.gramian.explain.Explanation.Patch;
import org.gramian.image.Image;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.tensor.DType;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PatchSearchTest {
    private static final int SIDE = 128;

    @ParameterizedTest
    @ValueSource(strings = {"bilinear/triu", "covariance/triu", "rbf/triu", "average"})
    void keepsStrongestPatchOfEachImage(String pooling) {
        ModelCard card = Models.card("resize:112");
        try (Model model = Models.random(pooling, DType.F32)) {
            GradientExplainer explainer = new GradientExplainer(model, card, 3);
            Image image = Models.halves(SIDE, SIDE);
            Explanation why = explainer.explain(CroppedImage.of(image, card), 0);
            PatchSearch search = new PatchSearch(explainer, why);
            for (int i = 0; i < 5; i++) {
                search.add("plain" + i, Models.plain(SIDE, SIDE));
            }
            search.add("halves", image);
            search.add("lying", Models.stripes(SIDE, SIDE, true));
            Explanation found = search.found();
            assertThat(found.pairs()).hasSize(3).allSatisfy(pair -> {
                assertThat(pair.patches())
                        .hasSize(Explanation.PATCHES)
                        .isSortedAccordingTo(
                                Comparator.comparingDouble(Patch::value).reversed());
                assertThat(pair.patches()).extracting(Patch::name).doesNotHaveDuplicates();
                assertThat(pair.patches()).extracting(Patch::name).containsAnyOf("halves", "lying");
                assertThat(pair.patches())
                        .allMatch(patch ->
                                patch.image().getWidth() == 28 && patch.image().getHeight() == 28);
            });
            assertThat(found.pairs())
                    .extracting(ChannelPair::contribution)
                    .isEqualTo(
                            why.pairs().stream().map(ChannelPair::contribution).toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bilinear/triu", "rbf/triu"})
    void patchesOfPlainImagesExciteLess(String pooling) {
        ModelCard card = Models.card("resize:112");
        try (Model model = Models.random(pooling, DType.F32)) {
            GradientExplainer explainer = new GradientExplainer(model, card, 6);
            Image image = Models.stripes(SIDE, SIDE, false);
            Explanation why = explainer.explain(CroppedImage.of(image, card), 0);
            ChannelPair strongest = patches(explainer, why, image).getFirst();
            ChannelPair plain =
                    patches(explainer, why, Models.plain(SIDE, SIDE)).getFirst();
            assertThat(strongest.patches().getFirst().value())
                    .isGreaterThan(plain.patches().getFirst().value());
        }
    }

    private static List<ChannelPair> patches(GradientExplainer explainer, Explanation why, Image image) {
        PatchSearch search = new PatchSearch(explainer, why);
        search.add("image", image);
        return search.found().pairs();
    }
}
