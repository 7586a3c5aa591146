package org.gramian.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.Detector.DetectorEngine;
import org.gramian.anomaly.DetectorCard;
import org.gramian.image.Image;
import org.gramian.image.crop.Preprocessing;
import org.gramian.model.Classifier;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.context.WebApplicationContext;

class GramianAutoConfigurationTest {
    private static final Path RESOURCES = Path.of("src", "test", "resources");
    private static final String MODEL = "gramian.model=" + RESOURCES.resolve("textures.safetensors");

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(GramianAutoConfiguration.class));

    private final WebApplicationContextRunner web = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    GramianAutoConfiguration.class,
                    DispatcherServletAutoConfiguration.class,
                    WebMvcAutoConfiguration.class,
                    HttpMessageConvertersAutoConfiguration.class,
                    JacksonAutoConfiguration.class))
            .withPropertyValues(MODEL);

    private static byte[] dotted() throws IOException {
        return Files.readAllBytes(RESOURCES.resolve("dotted.jpg"));
    }

    /** Gives every image the score 1, as it gave 19 good ones 0. */
    private static Detector detector() {
        DetectorCard card = new DetectorCard(
                Preprocessing.TORCHVISION,
                List.of("layer"),
                32,
                32,
                0,
                1,
                0,
                0.1,
                Collections.nCopies(19, 0.0),
                Collections.nCopies(19, 0.0),
                new LinkedHashMap<>(),
                new LinkedHashMap<>());
        return Detector.of(
                new DetectorEngine() {
                    @Override
                    public Output compute(Image image) {
                        return new Output(1, 1, 1, new float[] {1});
                    }

                    @Override
                    public void close() {}
                },
                card);
    }

    @Test
    void modelOfPropertyPredictsUntilContextCloses() {
        Classifier[] loaded = new Classifier[1];
        runner.withPropertyValues(MODEL).run(context -> {
            loaded[0] = context.getBean(Classifier.class);
            assertThat(context.getBean(GramianTemplate.class).predict(dotted()).className())
                    .isEqualTo("dotted");
            assertThat(context).doesNotHaveBean(Detector.class).doesNotHaveBean(GramianController.class);
            assertThat(context.getBean(HealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.UP);
        });
        assertThatThrownBy(() -> loaded[0].predict(dotted())).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void predictionAndInspectionAreObserved() {
        TestObservationRegistry registry = TestObservationRegistry.create();
        runner.withPropertyValues(MODEL)
                .withBean(ObservationRegistry.class, () -> registry)
                .withBean(Detector.class, GramianAutoConfigurationTest::detector)
                .run(context -> {
                    GramianTemplate template = context.getBean(GramianTemplate.class);
                    template.predict(dotted());
                    assertThat(template.inspect(dotted()).isAnomalous()).isTrue();
                });
        TestObservationRegistryAssert.assertThat(registry).hasObservationWithNameEqualTo("gramian.predict");
        TestObservationRegistryAssert.assertThat(registry).hasObservationWithNameEqualTo("gramian.inspect");
    }

    @Test
    void startsWithTwoDetectorsOfTheApplication() {
        runner.withBean("left", Detector.class, GramianAutoConfigurationTest::detector)
                .withBean("right", Detector.class, GramianAutoConfigurationTest::detector)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void startsWithoutModelAndActuator() {
        runner.withClassLoader(new FilteredClassLoader(HealthIndicator.class)).run(context -> {
            assertThat(context).hasNotFailed().doesNotHaveBean(Classifier.class);
            assertThatThrownBy(() -> context.getBean(GramianTemplate.class).predict(dotted()))
                    .hasMessageContaining("gramian.model");
        });
    }

    @Test
    void missingModelAndWrongPropertiesFailStart() {
        runner.withPropertyValues("gramian.model=missing.safetensors")
                .run(context -> assertThat(context).getFailure().hasStackTraceContaining("missing.safetensors"));
        runner.withPropertyValues("gramian.top=0")
                .run(context -> assertThat(context).getFailure().hasStackTraceContaining("gramian.top"));
        runner.withPropertyValues("gramian.web.max-size=4GB")
                .run(context -> assertThat(context).getFailure().hasStackTraceContaining("gramian.web.max-size"));
        runner.withPropertyValues(MODEL, "gramian.unknown-rate=2")
                .run(context -> assertThat(context).getFailure().hasStackTraceContaining("found 2"));
    }

    @Test
    void rateOfUnknownImagesIsThatOfProperty() {
        runner.withPropertyValues(MODEL, "gramian.unknown-rate=0.9")
                .run(context -> assertThat(context.getBean(Classifier.class)
                                .predict(dotted())
                                .isUnknown())
                        .isTrue());
    }

    @Test
    void healthIsDownWhenModelIsClosed() {
        runner.withPropertyValues(MODEL).run(context -> {
            context.getBean(Classifier.class).close();
            assertThat(context.getBean(HealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.DOWN);
        });
    }

    @Test
    void endpointsAnswerImagesAndRefuseOthers() {
        web.withPropertyValues("gramian.web.enabled=true", "gramian.web.path=/vision", "gramian.web.max-size=5KB")
                .run(context -> {
                    MockMvcTester mvc =
                            MockMvcTester.from((WebApplicationContext) context.getSourceApplicationContext());
                    assertThat(send(mvc, "/vision/predict?top=2", dotted()))
                            .hasStatus(HttpStatus.OK)
                            .bodyText()
                            .startsWith("{\"class\":\"dotted\",")
                            .contains("chequered")
                            .doesNotContain("striped");
                    assertThat(send(mvc, "/vision/predict", new byte[6000])).hasStatus(HttpStatus.CONTENT_TOO_LARGE);
                    assertThat(send(mvc, "/vision/predict", new byte[600])).hasStatus(HttpStatus.UNPROCESSABLE_CONTENT);
                    assertThat(send(mvc, "/vision/predict?top=0", dotted())).hasStatus(HttpStatus.BAD_REQUEST);
                    assertThat(send(mvc, "/vision/inspect", dotted())).hasStatus(HttpStatus.NOT_FOUND);
                    assertThat(mvc.post()
                                    .uri("/vision/predict")
                                    .contentType(MediaType.TEXT_PLAIN)
                                    .content("no"))
                            .hasStatus(HttpStatus.UNSUPPORTED_MEDIA_TYPE);
                });
        web.run(context -> assertThat(context).doesNotHaveBean(GramianController.class));
    }

    private static MvcTestResult send(MockMvcTester mvc, String uri, byte[] content) {
        return mvc.post()
                .uri(uri)
                .contentType(MediaType.IMAGE_JPEG)
                .content(content)
                .exchange();
    }
}
