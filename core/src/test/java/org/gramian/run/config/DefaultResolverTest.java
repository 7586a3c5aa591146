package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.Backbones;
import org.gramian.backbone.weights.WeightName;
import org.gramian.basis.EnumWords;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Methods.Method;
import org.gramian.pooling.Pooling;
import org.gramian.run.config.DefaultResolver.Context;
import org.gramian.run.config.Settings.Setting;
import org.gramian.tensor.Device;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.train.AdamW;
import org.gramian.train.Sgd;
import org.gramian.train.StiefelOptions;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.OptimizerRecipe;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class DefaultResolverTest {
    private static Context context(Device.Kind device, int images, String... weights) {
        Dataset.Source source = new Dataset.Source("folders", new Assignment.None(), List.of());
        Context empty = Context.of(
                new Dataset(Path.of("photos"), List.of("stone", "wood"), List.of(), source),
                Stream.of(weights).sorted().map(WeightName::parse).toList(),
                device);
        return new Context(empty.layout(), empty.protocol(), images, 2, empty.weights(), device);
    }

    /** Settings of pairs {@code key=value} separated by spaces. */
    private static Settings requested(String pairs) {
        Settings settings = Settings.NONE;
        for (String pair : pairs.isBlank() ? new String[0] : pairs.strip().split(" ")) {
            String[] parts = pair.split("=", 2);
            settings = settings.with(parts[0], parts[1], "--set");
        }
        return settings;
    }

    private static Settings complete(String pairs, Device.Kind device, String... weights) {
        return DefaultResolver.complete(requested(pairs), context(device, 0, weights));
    }

    private static Setting setting(Settings settings, String key) {
        return Objects.requireNonNull(settings.values().get(key), key);
    }

    private static void assertValues(Settings settings, String pairs) {
        for (String pair : pairs.strip().split(" ")) {
            String[] parts = pair.split("=", 2);
            assertThat(setting(settings, parts[0]).text()).as(parts[0]).isEqualTo(parts[1]);
        }
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @CsvSource(delimiter = '|', textBlock = """
        ''                          | CPU  | 0       | data.protocol=holdout:0.2 data.crops=resize:320 network.pooling=auto network.classifier=lda data.validation=0 stage1.epochs=0 stage2.epochs=0
        ''                          | CUDA | 0       | network.backbone=efficientnet-lite4 network.layer=block20+block24+block28 stage2.epochs=0
        ''                          | CUDA | 3000    | stage2.epochs=20 network.layer=block20+block29 optimizer.name=adamw stage2.schedule=cosine stage2.warmup=1.6 stage2.backbone-rate=0.1 optimizer.precision=bf16 data.augment=standard stage2.image-size=224 data.validation=0.1
        ''                          | CUDA | 1000000 | stage2.epochs=5
        ''                          | CPU  | 3000    | stage2.epochs=0 stage1.refit=none
        quality=fast                | CUDA | 3000    | stage2.epochs=0
        quality=best                | CUDA | 3000    | stage2.epochs=40
        network.classifier=lda      | CUDA | 3000    | stage2.epochs=0 network.layer=block20+block24+block28
        network.classifier=softmax  | CPU  | 3000    | stage1.refit=svm
        network.classifier=softmax  | CPU  | 6000    | stage1.refit=svm:C=10
        network.classifier=softmax fidelity=paper   | CPU | 3000 | stage1.refit=none optimizer.name=sgd
        network.classifier=softmax fidelity=authors | CPU | 3000 | stage1.refit=none optimizer.name=sgd
        network.backbone=vgg16      | CPU  | 0       | network.weights=vgg16 network.layer=conv5_3
        network.weights=googlenet-bvlc | CPU | 0     | network.backbone=googlenet
        network.weights=none        | CPU  | 0       | network.backbone=filters
        network.pooling=mdm network.classifier=svm:C=10 | CPU | 0 | network.classifier=svm:C=10
        optimizer.name=adamw        | CPU  | 0       | stage1.rate=0.002 stage1.per-length=false stage2.rate=0.002 stage2.backbone-rate=0.1
        optimizer.name=adamw stage1.rate=0.5 | CPU | 0 | stage1.rate=0.5
        fidelity=paper              | CPU  | 0       | data.crops=paper:224 optimizer.batch=32 stage1.rate=0.1
        """)
    void unsetOptionsSuitTheOthers(String given, Device.Kind device, int images, String expected) {
        Settings all = DefaultResolver.complete(requested(given), context(device, images, "efficientnet-lite4"));
        assertThat(all.values()).containsOnlyKeys(ConfigKey.names());
        assertValues(all, expected);
        RunConfig.of(all);
    }

    @ParameterizedTest
    @CsvSource({
        "'', filters",
        "squeezenet-1.1 googlenet-bvlc efficientnet-lite4, efficientnet-lite4",
        "squeezenet-1.1 gramian-s, gramian-s",
        "googlenet-bvlc gramian-s, googlenet"
    })
    void bestInstalledBackboneIsChosen(String weights, String backbone) {
        Settings all = complete("", Device.Kind.CPU, weights.isEmpty() ? new String[0] : weights.split(" "));
        assertValues(all, "network.backbone=" + backbone);
        assertThat(setting(all, "network.backbone").wanted()).isFalse();
        assertThat(setting(all, "optimizer.momentum").origin()).isEqualTo("default");
    }

    @Test
    void everyBackboneWithWeightsHasARank() {
        assertThat(DefaultResolver.BEST_BACKBONES).containsExactlyInAnyOrderElementsOf(WeightName.architectures());
        assertThat(Backbones.names()).contains("filters");
    }

    @ParameterizedTest
    @CsvSource({
        "default, 1, false",
        "bcnn, 1, false",
        "isqrt, 1, true",
        "average, 1, true",
        "average/pca:3, 1, true",
        "average/l2/root, 1, true",
        "fisher:4/root/l2, 1, false",
        "fisher:4/root/l2/pca:most, 1, false",
        "netvlad:4/l2, 0.1, false",
        "[average+netvlad:4]/l2, 0.1, false",
        "deepten:4, 0.1, true",
        "vlad:4/l2, 1, false",
        "average fidelity=paper, 0.1, false",
        "average stage1.rate=3, 3, false",
        "netvlad:8 optimizer.name=adamw, 0.002, false"
    })
    void headRateDependsOnNormAndCodewords(String pooling, double rate, boolean perLength) {
        Settings all = complete("network.classifier=softmax network.pooling=" + pooling, Device.Kind.CPU);
        assertThat(all.get(TrainConfig.STAGE1_RATE)).isEqualTo(rate);
        assertThat(all.get(TrainConfig.PER_LENGTH)).isEqualTo(perLength);
    }

    @ParameterizedTest(name = "{0} images of {1}")
    @CsvSource({
        "1, center, 8, 60, cosine",
        "319, center, 8, 15, 'plateau:2,2'",
        "320, center, 32, 15, cosine",
        "319, paper, 32, 15, 'plateau:2,2'",
        "100, center, 8, 15, cosine",
        "1000000, center, 32, 15, 'plateau:2,2'"
    })
    void stage1LengthDependsOnSteps(int images, String crops, int batch, int epochs, String schedule) {
        Settings all = DefaultResolver.complete(
                requested("network.classifier=softmax data.crops=" + crops), context(Device.Kind.CPU, images));
        assertThat(all.get(TrainConfig.BATCH)).isEqualTo(batch);
        assertThat(all.get(TrainConfig.STAGE1_EPOCHS)).isEqualTo(epochs);
        assertThat(all.get(TrainConfig.STAGE1_SCHEDULE).text()).isEqualTo(schedule);
    }

    @Test
    void optimizerOptionsReachTheRecipe() {
        String googlenet = "googlenet";
        Recipe adamW = RunConfig.of(complete("optimizer.name=adamw", Device.Kind.CUDA, googlenet))
                .recipe();
        assertThat(adamW.optimizer()).isEqualTo(new OptimizerRecipe(AdamW.defaults(0.002), 0, 0));
        Recipe sgd = RunConfig.of(complete("", Device.Kind.CUDA, googlenet)).recipe();
        assertThat(sgd.optimizer()).isEqualTo(new OptimizerRecipe(Sgd.defaults(1), 0, 0));
        Recipe others = RunConfig.of(complete("optimizer.clip=1.5 optimizer.ema=0.99", Device.Kind.CPU, googlenet))
                .recipe();
        assertThat(others.optimizer().clip()).isEqualTo(1.5);
        assertThat(others.optimizer().ema()).isEqualTo(0.99);
    }

    @Test
    void authorsTrainAllLayersTogether() {
        RunConfig config = RunConfig.of(complete("fidelity=authors", Device.Kind.CPU, "googlenet"));
        assertThat(config.recipe().stage1().epochs()).isZero();
        assertThat(config.recipe().stage2().epochs()).isPositive();
        assertThat(config.recipe().stage2().rate()).isEqualTo(1e-5);
        assertThat(config.recipe().batching().batch()).isEqualTo(16);
        assertThat(config.recipe().optimizer().rule().weightDecay()).isEqualTo(5e-6);
        assertThat(config.recipe().optimizer().rule().stiefel()).isEqualTo(StiefelOptions.of(Fidelity.AUTHORS));
        assertThat(config.network().logitNorm()).isTrue();
    }

    /** The text is saved beside the fidelity, and read under it again. */
    @ParameterizedTest
    @EnumSource(Fidelity.class)
    void givenPoolingArgumentsOverrideTheFidelity(Fidelity fidelity) {
        String text = "conv:9/rbf:sigma=mean/spd:9/triu/root:1e-5";
        Settings all = complete(
                "fidelity=" + EnumWords.text(fidelity) + " network.pooling=" + text, Device.Kind.CPU, "googlenet");
        Pooling pooling = RunConfig.of(all).network().pooling();
        assertThat(pooling).isEqualTo(Pooling.parse(text, fidelity));
        assertThat(Pooling.parse(all.get(TrainConfig.POOLING), fidelity)).isEqualTo(pooling);
    }

    @Test
    void methodHasItsOwnClassifier() {
        for (Method method : Methods.all()) {
            for (String name : List.of(method.name(), method.name().toUpperCase(Locale.ROOT))) {
                String layer = method.name().equals("cross-layer") ? "conv5_2+conv5_3" : "conv5_3";
                Settings all = complete(
                        "network.pooling=" + name + " network.backbone=vgg16 network.layer=" + layer, Device.Kind.CUDA);
                Backbone backbone = Backbone.of("vgg16", layer);
                boolean solved = method.classifier().equals(Method.SOFTMAX)
                        && !Pooling.parse(method.pooling())
                                .resolve(backbone, 100)
                                .hasTrainable(backbone.channels());
                assertValues(all, "network.classifier=" + (solved ? "lda" : method.classifier()));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Fidelity.class)
    void solverHasNoEpochs(Fidelity fidelity) {
        Settings all = complete(
                "network.backbone=filters network.classifier=lda network.pooling=average fidelity="
                        + EnumWords.text(fidelity),
                Device.Kind.CUDA);
        assertValues(all, "stage1.epochs=0 stage2.epochs=0 network.logit-norm=false");
        assertThat(setting(all, "stage2.epochs").origin()).contains("lda");
    }

    /** The file has the stages of the pooling instead of the name of the method. */
    @Test
    void classifierOfAMethodSurvivesItsFile() {
        Settings before = complete("network.backbone=filters network.pooling=mdm", Device.Kind.CPU);
        Settings file = ConfigFileTest.parse(ConfigFile.text(before)).wanted();
        Settings again = DefaultResolver.complete(requested("seed=5").over(file), context(Device.Kind.CPU, 0));
        assertValues(again, "network.classifier=mean stage1.epochs=0");
    }

    /** Given settings keep their origin; completing complete settings changes nothing. */
    @RandomTest(times = 50)
    void givenSettingsAreKept(Seed seed) {
        SplittableRandom random = seed.random();
        Settings requested = Settings.NONE;
        for (Setting setting : new RandomConfigs(random).next().values().values()) {
            boolean network =
                    setting.key().startsWith("network.") || setting.key().endsWith(".epochs");
            if (network || random.nextBoolean()) {
                requested = requested.with(setting.key(), setting.value(), "--flag");
            }
        }
        Device.Kind device = random.nextBoolean() ? Device.Kind.CPU : Device.Kind.CUDA;
        Settings all = DefaultResolver.complete(requested, context(device, 0, "googlenet"));
        assertThat(all.values()).containsAllEntriesOf(requested.values()).containsOnlyKeys(ConfigKey.names());
        assertThat(DefaultResolver.complete(all, context(Device.Kind.CPU, 0))).isEqualTo(all);
    }

    /** The rate of a pooling and the layer of a backbone do not fit others. */
    @Test
    void chosenSettingsAreChosenAgainForOtherOptions() {
        Context here = context(Device.Kind.CPU, 0);
        Settings before = DefaultResolver.complete(requested("stage1.epochs=9"), here);
        Settings again = ConfigFileTest.parse(ConfigFile.text(before)).wanted();
        assertThat(again.values()).containsOnlyKeys("stage1.epochs");
        assertValues(
                DefaultResolver.complete(requested("network.pooling=average").over(again), here),
                "stage1.per-length=true stage1.epochs=9");
        assertValues(
                DefaultResolver.complete(
                        requested("network.backbone=squeezenet").over(again), here),
                "network.weights=squeezenet");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        network.weights=my.pth | network.weights network.backbone 'my.pth'
        network.backbone=googlenet network.layer=inception_4f | network.layer googlenet inception_4f
        network.backbone=filters network.weights=vgg16 | network.weights none filters
        network.backbone=vgg16 network.weights=none | network.weights vgg16
        network.pooling=rbf/spd:9999/triu | network.pooling 9999
        stage1.epochs=0 network.classifier=softmax | 0 stage1.epochs stage2.epochs
        network.classifier=svm stage1.epochs=3 | stage1.epochs 0 network.classifier=svm softmax
        network.classifier=mean network.logit-norm=true | network.logit-norm false network.classifier=mean softmax
        network.classifier=lda optimizer.label-smoothing=0.1 | optimizer.label-smoothing 0 network.classifier=lda
        optimizer.ema=1 | optimizer.ema
        accelerate=fast | accelerate fast
        network.classifier=softmx | network.classifier: softmx softmax svm mean lda
        network.classifier=svn | network.classifier: svn svm
        network.classifier=softmax:2 | network.classifier: softmax
        network.classifier=svm:C=x | network.classifier: C x
        """)
    void invalidSettingsAreRefused(String pairs, String message) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> complete(pairs, Device.Kind.CPU))
                .has(facts((Object[]) message.split(" ")));
    }
}
