package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.backbone.Backbones;
import org.gramian.backbone.weights.WeightName;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Device;
import org.gramian.testing.Facts;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.train.AdamWOptions;
import org.gramian.train.SgdOptions;
import org.gramian.train.StiefelOptions;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.OptimizerRecipe;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.Schedule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class ChoicesTest {
    private static Dataset dataset(String layout) {
        Dataset.Source source = new Dataset.Source(layout, new Assignment.None(), List.of());
        return new Dataset(Path.of("photos"), List.of("stone", "wood"), List.of(), source);
    }

    private static DefaultsContext at(Device.Kind device, String... weights) {
        return new DefaultsContext(
                dataset("folders"),
                Stream.of(weights).sorted().map(WeightName::parse).toList(),
                device);
    }

    private static Settings requested(String... pairs) {
        Settings settings = Settings.NONE;
        for (String pair : pairs) {
            String[] parts = pair.split("=", 2);
            settings = settings.with(parts[0], parts[1], Origin.flag("--set"));
        }
        return settings;
    }

    private static String origin(Settings settings, Key<?> key) {
        return Objects.requireNonNull(settings.values().get(key.name()))
                .origin()
                .text();
    }

    @Test
    void defaultsSufficeWithoutOptions() {
        Settings all = Choices.complete(Settings.NONE, at(Device.Kind.CPU));
        assertThat(all.values()).containsOnlyKeys(Keys.names());
        RunConfig config = RunConfig.of(all);
        assertThat(config.network().backbone()).hasToString("filters:bank");
        assertThat(config.network().auto()).isTrue();
        assertThat(all.get(Keys.POOLING)).isEqualTo("auto");
        assertThat(all.get(Keys.CLASSIFIER)).isPresent();
        assertThat(all.get(Keys.VALIDATION)).isZero();
        assertThat(config.data().protocol().text()).isEqualTo("holdout:0.2");
        assertThat(config.data().crops().text()).isEqualTo("resize:224");
        assertThat(config.recipe().stage1().epochs()).isZero();
        assertThat(config.recipe().stage2().epochs()).isZero();
        assertThat(origin(all, Keys.MOMENTUM)).isEqualTo("default");
        assertThat(origin(all, Keys.BATCH)).isNotEqualTo(origin(all, Keys.MOMENTUM));
        assertThat(origin(all, Keys.BACKBONE)).has(facts("weights"));
    }

    @Test
    void bestInstalledBackboneIsChosen() {
        Settings all = Choices.complete(
                Settings.NONE, at(Device.Kind.CUDA, "squeezenet-1.1", "googlenet-bvlc", "efficientnet-lite4"));
        assertThat(all.get(Keys.BACKBONE)).isEqualTo("efficientnet-lite4");
        assertThat(origin(all, Keys.BACKBONE)).has(facts("efficientnet-lite4", "googlenet", "squeezenet"));
        assertThat(all.get(Keys.LAYER)).isEqualTo("block20+block28");
        assertThat(all.get(Keys.CROPS).text()).isEqualTo("resize:320");
        assertThat(all.get(Keys.STAGE2_EPOCHS)).isZero();
    }

    @Test
    void trainedHeadIsRefittedUnlessFaithfulToThePaper() {
        Settings trained = Settings.NONE.with(Keys.CLASSIFIER, Optional.empty());
        assertThat(Choices.complete(trained, many(Device.Kind.CPU, 3000)).get(Keys.STAGE1_REFIT))
                .contains(LinearSolver.parse("svm"));
        assertThat(Choices.complete(trained, many(Device.Kind.CPU, 6000)).get(Keys.STAGE1_REFIT))
                .contains(LinearSolver.parse("svm:C=10"));
        for (Fidelity fidelity : List.of(Fidelity.PAPER, Fidelity.AUTHORS)) {
            assertThat(Choices.complete(trained.with(Keys.FIDELITY, fidelity), many(Device.Kind.CPU, 3000))
                            .get(Keys.STAGE1_REFIT))
                    .as(fidelity.text())
                    .isEmpty();
        }
        Settings solved = Choices.complete(Settings.NONE, many(Device.Kind.CPU, 3000));
        assertThat(solved.get(Keys.CLASSIFIER)).isPresent();
        assertThat(solved.get(Keys.STAGE1_REFIT)).isEmpty();
    }

    @Test
    void givenSolverDisablesFineTuning() {
        Settings all = Choices.complete(
                Settings.NONE.with(Keys.CLASSIFIER, Optional.of(LinearSolver.parse("lda"))),
                many(Device.Kind.CUDA, 3000));
        assertThat(all.get(Keys.STAGE2_EPOCHS)).isZero();
        assertThat(all.get(Keys.LAYER)).isEqualTo("block20+block28");
    }

    private static DefaultsContext many(Device.Kind device, int images) {
        DefaultsContext few = at(device, "efficientnet-lite4");
        return new DefaultsContext(few.layout(), few.protocol(), images, few.weights(), device);
    }

    @Test
    void manyImagesAreFineTunedOnAGpu() {
        Settings all = Choices.complete(Settings.NONE, many(Device.Kind.CUDA, 3000));
        assertThat(all.get(Keys.STAGE2_EPOCHS)).isEqualTo(20);
        assertThat(all.get(Keys.LAYER)).isEqualTo("block20+block29");
        assertThat(all.get(Keys.OPTIMIZER)).isEqualTo(UpdateRule.ADAMW);
        assertThat(all.get(Keys.STAGE2_SCHEDULE)).isEqualTo(new Schedule.Cosine());
        assertThat(all.get(Keys.STAGE2_WARMUP)).isCloseTo(1.6, within(1e-9));
        assertThat(all.get(Keys.BACKBONE_RATE)).isEqualTo(0.1);
        assertThat(all.get(Keys.PRECISION)).isEqualTo(Precision.BF16);
        assertThat(all.get(Keys.AUGMENT)).isEqualTo(Augmentation.STANDARD);
        assertThat(all.get(Keys.STAGE2_IMAGE_SIZE)).isEqualTo(224);
        assertThat(all.get(Keys.VALIDATION)).isEqualTo(0.1);
        assertThat(RunConfig.of(all).network().fineTuned()).isPresent();
        assertThat(Choices.complete(Settings.NONE, many(Device.Kind.CUDA, 1_000_000))
                        .get(Keys.STAGE2_EPOCHS))
                .isEqualTo(5);
        assertThat(Choices.complete(Settings.NONE, many(Device.Kind.CPU, 3000)).get(Keys.STAGE2_EPOCHS))
                .isZero();
        assertThat(Choices.complete(requested("quality=fast"), many(Device.Kind.CUDA, 3000))
                        .get(Keys.STAGE2_EPOCHS))
                .isZero();
        assertThat(Choices.complete(requested("quality=best"), many(Device.Kind.CUDA, 3000))
                        .get(Keys.STAGE2_EPOCHS))
                .isEqualTo(40);
    }

    @Test
    void trainedHeadUsesTheDefaultPooling() {
        for (String pair : List.of("stage1.epochs=3", "stage1.rate=0.5", "network.classifier=softmax")) {
            assertThat(RunConfig.of(Choices.complete(requested(pair), at(Device.Kind.CPU, "googlenet")))
                            .network()
                            .pooling()
                            .text())
                    .as(pair)
                    .isEqualTo("conv:512/rbf/spd:128/relu/triu/root/l2");
        }
    }

    @Test
    void otherWeightsOfTheBackboneAreFallback() {
        assertThat(Choices.complete(Settings.NONE, at(Device.Kind.CPU, "googlenet-bvlc"))
                        .get(Keys.WEIGHTS))
                .contains("googlenet-bvlc");
        assertThat(Choices.complete(Settings.NONE, at(Device.Kind.CPU, "vgg16-a", "vgg16", "vgg16-keras"))
                        .get(Keys.WEIGHTS))
                .contains("vgg16");
    }

    @Test
    void givenBackboneIsUsedWithOrWithoutWeights() {
        Settings all = Choices.complete(requested("network.backbone=vgg16"), at(Device.Kind.CPU, "googlenet"));
        assertThat(all.get(Keys.WEIGHTS)).contains("vgg16");
        assertThat(all.get(Keys.LAYER)).isEqualTo("conv5_3");
        assertThat(origin(all, Keys.BACKBONE)).isEqualTo("--set");
    }

    @Test
    void weightsDetermineTheBackbone() {
        DefaultsContext here = at(Device.Kind.CPU, "efficientnet-lite4");
        assertThat(Choices.complete(requested("network.weights=googlenet-bvlc"), here)
                        .get(Keys.BACKBONE))
                .isEqualTo("googlenet");
        assertThat(Choices.complete(requested("network.weights=none"), here).get(Keys.BACKBONE))
                .isEqualTo("filters");
        assertWrong("network.weights=my.pth", facts("network.weights", "network.backbone", "'my.pth'"));
    }

    /** It was better on dtd10, FMD and cars39. */
    @Test
    void theBackboneInTheBoxComesBeforeSqueezeNet() {
        assertThat(Choices.complete(Settings.NONE, at(Device.Kind.CPU, "squeezenet-1.1", "gramian-s"))
                        .get(Keys.BACKBONE))
                .isEqualTo("gramian-s");
        assertThat(Choices.complete(Settings.NONE, at(Device.Kind.CPU, "googlenet-bvlc", "gramian-s"))
                        .get(Keys.BACKBONE))
                .isEqualTo("googlenet");
    }

    @Test
    void everyBackboneWithWeightsHasARank() {
        assertThat(BackboneRanking.BEST_FIRST).containsExactlyInAnyOrderElementsOf(WeightName.architectures());
        assertThat(Backbones.names()).contains(BackboneRanking.WITHOUT_WEIGHTS);
    }

    @Test
    void rateDependsOnThePooling() {
        for (String normalized : List.of("bcnn", "kernel", "default", "paper")) {
            assertThat(rate("network.pooling=" + normalized)).isEqualTo(1);
        }
        for (String unnormalized : List.of("average", "isqrt", "mpn-cov", "paper-kernel")) {
            assertThat(rate("network.pooling=" + unnormalized)).isEqualTo(1);
            assertThat(perLength("network.pooling=" + unnormalized)).isTrue();
        }
        assertThat(perLength("network.pooling=default")).isFalse();
        assertThat(perLength("network.pooling=average", "stage1.rate=3")).isFalse();
        assertThat(perLength("network.pooling=average", "fidelity=paper")).isFalse();
        assertThat(rate("network.pooling=average", "fidelity=paper")).isEqualTo(0.1);
        assertThat(rate("network.pooling=average", "fidelity=paper", "stage1.rate=3"))
                .isEqualTo(3);
    }

    private static boolean perLength(String... pairs) {
        return Choices.complete(requested(pairs), at(Device.Kind.CPU)).get(Keys.PER_LENGTH);
    }

    private static double rate(String... pairs) {
        return Choices.complete(requested(pairs), at(Device.Kind.CPU)).get(Keys.STAGE1_RATE);
    }

    @Test
    void adamWHasItsOwnRates() {
        Settings settings = Choices.complete(requested("optimizer.name=adamw"), at(Device.Kind.CUDA, "googlenet"));
        Recipe recipe = RunConfig.of(settings).recipe();
        assertThat(recipe.optimizer()).isEqualTo(new OptimizerRecipe(AdamWOptions.defaults(0.002)));
        assertThat(recipe.stage1().rate()).isEqualTo(0.002);
        assertThat(recipe.stage1().perLength()).isFalse();
        assertThat(recipe.stage2().rate()).isEqualTo(0.002);
        assertThat(recipe.stage2().backboneRate()).isEqualTo(0.1);
        assertThat(origin(settings, Keys.STAGE1_RATE)).contains("AdamW");
        assertThat(perLength("network.pooling=average", "optimizer.name=adamw")).isFalse();
        assertThat(rate("network.pooling=netvlad:8", "optimizer.name=adamw")).isEqualTo(0.002);
        assertThat(rate("optimizer.name=adamw", "stage1.rate=0.5")).isEqualTo(0.5);
    }

    @Test
    void sgdKeepsItsRates() {
        Recipe recipe = RunConfig.of(Choices.complete(Settings.NONE, at(Device.Kind.CUDA, "googlenet")))
                .recipe();
        assertThat(recipe.optimizer()).isEqualTo(new OptimizerRecipe(SgdOptions.defaults(1)));
        assertThat(recipe.stage2().rate()).isEqualTo(0.001);
        assertThat(recipe.stage2().backboneRate()).isEqualTo(1);
        assertThat(recipe.stage2().layerDecay()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fidelity.class,
            names = {"PAPER", "AUTHORS"})
    void thePaperAndItsAuthorsUseSgd(Fidelity fidelity) {
        Settings settings =
                Choices.complete(requested("fidelity=" + fidelity.text()), at(Device.Kind.CPU, "googlenet"));
        assertThat(settings.get(Keys.OPTIMIZER)).isEqualTo(UpdateRule.SGD);
        assertThat(origin(settings, Keys.OPTIMIZER)).doesNotContain("default");
    }

    @Test
    void clippingAveragesAndLayerDecayReachTheRecipe() {
        Recipe recipe = RunConfig.of(Choices.complete(
                        requested("optimizer.clip=1.5", "optimizer.ema=0.99", "stage2.layer-decay=0.8"),
                        at(Device.Kind.CPU, "googlenet")))
                .recipe();
        assertThat(recipe.optimizer().clip()).isEqualTo(1.5);
        assertThat(recipe.optimizer().ema()).isEqualTo(0.99);
        assertThat(recipe.stage2().layerDecay()).isEqualTo(0.8);
        for (String bad : List.of("optimizer.ema=1", "stage2.layer-decay=0", "stage2.layer-decay=1.1")) {
            assertThatExceptionOfType(ConfigException.class)
                    .isThrownBy(() -> requested(bad))
                    .withMessageContaining(bad.split("=", 2)[0]);
        }
    }

    @Test
    void authorsTrainAllLayersTogether() {
        RunConfig config =
                RunConfig.of(Choices.complete(requested("fidelity=authors"), at(Device.Kind.CPU, "googlenet")));
        assertThat(config.recipe().stage1().epochs()).isZero();
        assertThat(config.recipe().stage2().epochs()).isPositive();
        assertThat(config.recipe().stage2().rate()).isEqualTo(1e-5);
        assertThat(config.recipe().batching().batch()).isEqualTo(16);
        assertThat(config.recipe().optimizer().rule().weightDecay()).isEqualTo(5e-6);
        assertThat(config.recipe().optimizer().rule().stiefel()).isEqualTo(StiefelOptions.of(Fidelity.AUTHORS));
        assertThat(config.network().logitNorm()).isTrue();
        assertThat(config.data().crops().text()).isEqualTo("paper:224");
    }

    /** The text is saved beside the fidelity, and read under it again. */
    @ParameterizedTest
    @EnumSource(Fidelity.class)
    void givenPoolingArgumentsOverrideTheFidelity(Fidelity fidelity) {
        Settings settings = Choices.complete(
                requested("fidelity=" + fidelity.text(), "network.pooling=conv:9/rbf:sigma=mean/spd:9/triu/root:1e-5"),
                at(Device.Kind.CPU, "googlenet"));
        Pooling pooling = RunConfig.of(settings).network().pooling();
        assertThat(pooling).isEqualTo(Pooling.parse("conv:9/rbf:sigma=mean/spd:9/triu/root:1e-5", fidelity));
        assertThat(Pooling.parse(settings.get(Keys.POOLING), fidelity)).isEqualTo(pooling);
    }

    /** Every fidelity trains something, and a backbone without parameters is not fine-tuned. */
    @ParameterizedTest
    @EnumSource
    void filtersAreNeverFineTuned(Fidelity fidelity) {
        for (Device.Kind device : Device.Kind.values()) {
            RunConfig config = RunConfig.of(Choices.complete(
                    requested("fidelity=" + fidelity.text(), "network.backbone=filters"), at(device, "googlenet")));
            assertThat(config.recipe().stage1().epochs() > 0
                            || config.recipe().solver().isPresent())
                    .isTrue();
            assertThat(config.recipe().stage2().epochs()).isZero();
            assertThat(config.network().weights()).isEqualTo(Optional.empty());
        }
    }

    /** Given settings keep their origin; completing complete settings changes nothing. */
    @RandomTest(times = 50)
    void givenSettingsAreKept(Seed seed) {
        SplittableRandom random = seed.random();
        Settings whole = new RandomConfigs(random).next();
        Settings requested = Settings.NONE;
        for (Setting setting : whole.values().values()) {
            boolean network =
                    setting.key().startsWith("network.") || setting.key().endsWith(".epochs");
            if (network || random.nextBoolean()) {
                requested = requested.with(setting.key(), setting.text(), Origin.flag("--flag"));
            }
        }
        Device.Kind device = random.nextBoolean() ? Device.Kind.CPU : Device.Kind.CUDA;
        Settings all = Choices.complete(requested, at(device, "googlenet"));
        assertThat(all.values()).containsAllEntriesOf(requested.values()).containsOnlyKeys(Keys.names());
        assertThat(Choices.complete(all, at(Device.Kind.CPU))).isEqualTo(all);
    }

    /** The rate of a pooling and the layer of a backbone do not fit others. */
    @Test
    void chosenSettingsAreChosenAgainForOtherOptions() {
        DefaultsContext here = at(Device.Kind.CPU);
        Settings before = Choices.complete(requested("stage1.epochs=9"), here);
        Settings again = ConfigFileTest.parse(ConfigFile.text(before)).wanted();
        assertThat(again.values()).containsOnlyKeys("stage1.epochs");
        Settings average = Choices.complete(requested("network.pooling=average").over(again), here);
        assertThat(average.get(Keys.PER_LENGTH)).isTrue();
        assertThat(average.get(Keys.STAGE1_EPOCHS)).isEqualTo(9);
        Settings other =
                Choices.complete(requested("network.backbone=squeezenet").over(again), here);
        assertThat(other.get(Keys.WEIGHTS)).contains("squeezenet");
        Settings paper = Choices.complete(requested("fidelity=paper").over(again), here);
        assertThat(RunConfig.of(paper).data().crops().text()).isEqualTo("paper:224");
        assertThat(paper.get(Keys.BATCH)).isEqualTo(32);
    }

    @Test
    void contradictingSettingsAreRefused() {
        assertWrong(
                "network.backbone=googlenet network.layer=inception_4f",
                facts("network.layer", "googlenet", "inception_4f"));
        assertWrong("network.backbone=filters network.weights=vgg16", facts("network.weights", "none", "filters"));
        assertWrong("network.backbone=vgg16 network.weights=none", facts("network.weights", "vgg16"));
        assertWrong("network.pooling=rbf/spd:9999/triu", facts("network.pooling", "9999"));
        assertWrong("stage1.epochs=0 network.classifier=softmax", facts("0", "stage1.epochs", "stage2.epochs"));
    }

    private static void assertWrong(String pairs, Facts message) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> Choices.complete(requested(pairs.split(" ")), at(Device.Kind.CPU)))
                .has(message);
    }
}
