package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.gramian.backbone.Backbone;
import org.gramian.image.dataset.Dataset;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Method;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Device;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClassifierChoiceTest {
    @TempDir
    private Path folder = Path.of("");

    private static Settings requested(String... pairs) {
        Settings settings = Settings.NONE.with("network.backbone", "filters", Origin.CODE);
        for (String pair : pairs) {
            String[] parts = pair.split("=", 2);
            settings = settings.with(parts[0], parts[1], Origin.flag("--set"));
        }
        return settings;
    }

    private static Settings complete(Settings requested) {
        Dataset dataset = new Dataset(Path.of("photos"), List.of("stone", "wood"), List.of());
        return Choices.complete(requested, new DefaultsContext(dataset, List.of(), Device.Kind.CUDA));
    }

    private static String text(Settings settings, Key<?> key) {
        return Objects.requireNonNull(settings.values().get(key.name())).text();
    }

    @Test
    void solverIsDefaultUnlessThePoolingIsTrained() {
        assertThat(text(complete(requested("network.pooling=average/l2")), Keys.CLASSIFIER))
                .isEqualTo("svm");
        assertThat(text(complete(requested()), Keys.CLASSIFIER)).isEqualTo("svm");
        assertThat(RunConfig.of(complete(requested("network.pooling=conv:8/bilinear/triu")))
                        .recipe()
                        .solver())
                .isEmpty();
        assertThat(RunConfig.of(complete(requested("network.pooling=average/l2", "stage1.epochs=3")))
                        .recipe()
                        .solver())
                .isEmpty();
    }

    @Test
    void methodHasItsOwnClassifier() {
        for (Method method : Methods.all()) {
            for (String name : List.of(method.name(), " " + method.name().toUpperCase(Locale.ROOT))) {
                String layer = method.name().equals("cross-layer") ? "conv5_2+conv5_3" : "conv5_3";
                Settings all = complete(
                        requested("network.pooling=" + name, "network.backbone=vgg16", "network.layer=" + layer));
                boolean trained = method.classifier().equals(Method.SOFTMAX)
                        && Pooling.parse(method.pooling())
                                .resolve(Backbone.of("vgg16", layer), 100)
                                .hasTrainable(Backbone.of("vgg16", layer).channels());
                boolean own = trained || !method.classifier().equals(Method.SOFTMAX);
                assertThat(text(all, Keys.CLASSIFIER)).as(name).isEqualTo(own ? method.classifier() : "svm");
            }
        }
    }

    @Test
    void givenClassifierOverridesThatOfTheMethod() {
        assertThat(text(complete(requested("network.pooling=mdm", "network.classifier=svm:C=10")), Keys.CLASSIFIER))
                .isEqualTo("svm:C=10");
        Settings trained = complete(requested("network.pooling=mdm", "network.classifier=softmax"));
        assertThat(trained.get(Keys.STAGE1_EPOCHS)).isPositive();
    }

    @ParameterizedTest
    @EnumSource(Fidelity.class)
    void solverHasNoEpochs(Fidelity fidelity) {
        Settings all =
                complete(requested("network.classifier=lda", "network.pooling=average", "fidelity=" + fidelity.text()));
        assertThat(all.get(Keys.STAGE1_EPOCHS)).isZero();
        assertThat(all.get(Keys.STAGE2_EPOCHS)).isZero();
        assertThat(all.get(Keys.LOGIT_NORM)).isFalse();
        assertThat(Objects.requireNonNull(all.values().get("stage2.epochs"))
                        .origin()
                        .text())
                .has(facts("lda"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"svm", "svm:C=0.5", "mean", "lda", "lda:shrinkage=0.25", "logistic", "logistic:C=2"})
    void configurationWithSolverRoundTrips(String classifier) throws IOException {
        Settings all = complete(requested("network.classifier=" + classifier, "network.pooling=average"));
        RunConfig config = RunConfig.of(all);
        assertThat(config.recipe().solver()).contains(LinearSolver.parse(classifier));
        Path file = folder.resolve("run.yaml");
        ConfigFile.write(file, all);
        assertThat(RunConfig.of(ConfigFile.read(file))).isEqualTo(config);
    }

    /** The file has the stages of the pooling instead of the name of the method. */
    @Test
    void classifierOfAMethodSurvivesItsFile() throws IOException {
        Path file = folder.resolve("run.yaml");
        ConfigFile.write(file, complete(requested("network.pooling=mdm")));
        Settings again = complete(requested("seed=5").over(ConfigFile.read(file).wanted()));
        assertThat(text(again, Keys.CLASSIFIER)).isEqualTo("mean");
        assertThat(again.get(Keys.STAGE1_EPOCHS)).isZero();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    network.classifier=svm stage1.epochs=3 | stage1.epochs 0 network.classifier=svm
                    network.classifier=mean network.logit-norm=true | network.logit-norm false network.classifier=mean
                    network.classifier=lda optimizer.label-smoothing=0.1 | optimizer.label-smoothing 0 network.classifier=lda
                    """)
    void optionsThatDoNotApplyToASolverAreRefused(String pairs, String values) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> complete(requested(pairs.split(" "))))
                .has(facts((Object[]) values.split(" ")))
                .has(facts("softmax"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    softmx    | softmx softmax softmax svm mean lda logistic
                    svn       | svn svm svm
                    softmax:2 | softmax
                    svm:C=x   | C x
                    """)
    void unknownClassifierIsRefused(String text, String values) {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> requested("network.classifier=" + text))
                .withMessageStartingWith("network.classifier: ")
                .has(facts((Object[]) values.split(" ")));
    }
}
