package org.gramian.evaluate.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.MadeUp;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.FoldSet;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.model.ModelCard;
import org.gramian.testing.Facts;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class TestImagesTest {
    private static final int IMAGES = 60;
    private static final Dataset DATASET = dataset(IMAGES);

    /** Without files: splits depend on names and labels alone. */
    private static Dataset dataset(int images) {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < images; i++) {
            samples.add(new Sample("%03d.png".formatted(i), i % 3, Path.of("absent", i + ".png")));
        }
        return new Dataset(Path.of("absent"), List.of("glass", "stone", "wood"), samples);
    }

    private static FoldSet plan(String protocol, long seed) {
        return Protocol.parse(protocol).plan(DATASET, Duplicates.of(DATASET), seed);
    }

    private static ModelCard trainedOn(FoldSet plan, int fold) {
        return MadeUp.card(DATASET.classes(), 1, origin(plan, fold));
    }

    private static Map<String, String> origin(FoldSet plan, int fold) {
        return Map.of(
                "protocol",
                plan.protocol().text(),
                "fold",
                plan.folds().get(fold).name(),
                "fingerprint",
                plan.fingerprint().hex(),
                "seed",
                Long.toString(plan.seed()));
    }

    private static TestImages.Request request(@Nullable String protocol, @Nullable String fold, @Nullable Long seed) {
        return new TestImages.Request(
                Optional.ofNullable(protocol).map(Protocol::parse),
                Optional.ofNullable(fold),
                Optional.ofNullable(seed),
                false);
    }

    private static void assertRefused(ModelCard card, TestImages.Request request, Facts words) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> TestImages.choose(DATASET, card, request))
                .satisfies(refused -> assertThat(refused.getMessage()).has(words));
    }

    @RandomTest(times = 8)
    void byDefaultAModelIsEvaluatedOnItsOwnTestImages(Seed seed) {
        String protocol =
                List.of("thirds:3", "holdout:0.2", "kfold:4", "half:3").get((int) Math.floorMod(seed.value(), 4L));
        FoldSet plan = plan(protocol, seed.value());
        int number = seed.random().nextInt(plan.folds().size());
        Fold fold = plan.folds().get(number);
        TestImages chosen = TestImages.choose(DATASET, trainedOn(plan, number), TestImages.Request.DEFAULT);
        assertThat(chosen.indexes()).isEqualTo(fold.test()).doesNotContainAnyElementsOf(fold.train());
        assertThat(chosen.setting()).isEqualTo(Setting.of(plan, fold));
        assertThat(chosen.remarks())
                .singleElement()
                .asString()
                .has(facts(fold.test().size(), fold.name()));
    }

    @Test
    void allImagesOnRequestWithTheShareOfTrainingImages() {
        TestImages chosen = TestImages.choose(DATASET, trainedOn(plan("holdout:0.2", 1), 0), TestImages.Request.ALL);
        assertThat(chosen.indexes()).hasSize(IMAGES);
        assertThat(chosen.setting()).isEqualTo(Setting.all(DATASET));
        assertThat(chosen.remarks()).singleElement().asString().has(facts("80 %", "48", "60"));
    }

    @Test
    void trainingImagesOfTheModelAreRefused() {
        FoldSet plan = plan("thirds:3", 5);
        assertRefused(trainedOn(plan, 0), request(null, "third 2", null), facts("100 %", "20", "third 1", "thirds:3"));
        assertRefused(trainedOn(plan, 0), request("holdout:0.2", null, null), facts("third 1", "thirds:3"));
        assertRefused(trainedOn(plan, 0), request("thirds:3", "third 1", 6L), facts("third 1", "thirds:3"));
    }

    @Test
    void theModelsProtocolSelectsItsOwnFold() {
        FoldSet plan = plan("thirds:3", 5);
        ModelCard card = trainedOn(plan, 1);
        TestImages usual = TestImages.choose(DATASET, card, TestImages.Request.DEFAULT);
        for (TestImages.Request same : List.of(
                request("thirds:3", null, null), request(null, "third 2", null), request("thirds:3", "third 2", 5L))) {
            assertThat(TestImages.choose(DATASET, card, same).indexes()).isEqualTo(usual.indexes());
            assertThat(TestImages.choose(DATASET, card, same).setting()).isEqualTo(usual.setting());
        }
    }

    @Test
    void aModelOfAnotherDatasetIsEvaluatedOnAllImagesWithARemark() {
        Dataset others = dataset(IMAGES + 3);
        ModelCard card = trainedOn(plan("thirds:3", 5), 0);
        TestImages chosen = TestImages.choose(others, card, TestImages.Request.DEFAULT);
        assertThat(chosen.indexes())
                .isEqualTo(IntStream.range(0, IMAGES + 3).boxed().toList());
        assertThat(chosen.remarks()).singleElement().asString().has(facts("thirds:3", "third 1"));
        FoldSet plan = Protocol.parse("thirds:3").plan(others, Duplicates.of(others), 5);
        TestImages third = TestImages.choose(others, card, request(null, "third 3", null));
        assertThat(third.indexes()).isEqualTo(plan.folds().get(2).test());
    }

    @Test
    void aModelWithoutOriginIsEvaluatedOnAllImagesWithARemark() {
        ModelCard card = MadeUp.card(DATASET.classes(), 1, Map.of("seed", "1"));
        TestImages chosen = TestImages.choose(DATASET, card, TestImages.Request.DEFAULT);
        assertThat(chosen.indexes()).hasSize(IMAGES);
        assertThat(chosen.remarks()).hasSize(1);
        assertThat(TestImages.choose(DATASET, card, TestImages.Request.ALL).remarks())
                .isEmpty();
        assertThat(TestImages.choose(DATASET, card, request("holdout:0.5", null, null))
                        .indexes())
                .isEqualTo(plan("holdout:0.5", 0).folds().getFirst().test());
        assertRefused(card, request(null, "third 1", null), facts("protocol"));
    }

    @Test
    void oneOfSeveralFoldsHasToBeNamed() {
        ModelCard card = MadeUp.card(DATASET.classes(), 1, Map.of());
        assertRefused(card, request("thirds:3", null, null), facts("third 1", "third 2", "third 3"));
        assertRefused(card, request("thirds:3", "thrid 2", null), facts("thrid 2", "third 2"));
    }

    @Test
    void anInconsistentOriginIsRefused() {
        Map<String, String> origin = new HashMap<>(origin(plan("thirds:3", 5), 0));
        origin.put("fold", "third 9");
        assertRefused(
                MadeUp.card(DATASET.classes(), 1, origin), TestImages.Request.DEFAULT, facts("'third 9'", "'third 1'"));
        origin.put("seed", "five");
        assertRefused(MadeUp.card(DATASET.classes(), 1, origin), TestImages.Request.DEFAULT, facts("'five'"));
        origin.put("fingerprint", "f00");
        assertRefused(
                MadeUp.card(DATASET.classes(), 1, origin), TestImages.Request.DEFAULT, facts("64", "hexadecimal"));
    }
}
