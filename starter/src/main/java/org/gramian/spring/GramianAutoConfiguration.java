package org.gramian.spring;

import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.util.Objects;
import java.util.Optional;
import org.gramian.anomaly.Detector;
import org.gramian.model.Classifier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * Makes a {@link Classifier} of {@code gramian.model}, a {@link Detector} of {@code gramian.detector}, a {@link GramianTemplate} of both,
 * a health indicator where there is an actuator, and REST endpoints if {@code gramian.web.enabled} is true. Beans of the application
 * take precedence. Models are loaded at the start and closed at the end.
 *
 * @since 0.1
 */
@AutoConfiguration
@EnableConfigurationProperties(GramianProperties.class)
public final class GramianAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnProperty("gramian.model")
    Classifier gramianClassifier(GramianProperties properties) throws IOException {
        Classifier loaded = Classifier.load(Objects.requireNonNull(properties.model(), "gramian.model"));
        return properties.unknownRate() == null ? loaded : loaded.withUnknownRate(properties.unknownRate());
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnProperty("gramian.detector")
    Detector gramianDetector(GramianProperties properties) throws IOException {
        Detector loaded = Detector.load(Objects.requireNonNull(properties.detector(), "gramian.detector"));
        return properties.falseAlarms() == null ? loaded : loaded.withFalseAlarms(properties.falseAlarms());
    }

    @Bean
    @ConditionalOnMissingBean
    GramianTemplate gramianTemplate(
            ObjectProvider<Classifier> classifier,
            ObjectProvider<Detector> detector,
            ObjectProvider<ObservationRegistry> observations) {
        return new GramianTemplate(
                Optional.ofNullable(classifier.getIfUnique()),
                Optional.ofNullable(detector.getIfUnique()),
                observations.getIfUnique(() -> ObservationRegistry.NOOP));
    }

    /** Where the application has {@code spring-boot-starter-actuator}. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HealthIndicator.class)
    static class HealthConfiguration {
        @Bean
        @ConditionalOnMissingBean(name = "gramianHealthIndicator")
        @ConditionalOnEnabledHealthIndicator("gramian")
        HealthIndicator gramianHealthIndicator(GramianTemplate template, GramianProperties properties) {
            return new GramianHealthIndicator(template, properties);
        }
    }

    /** Where the application has {@code spring-boot-starter-webmvc}. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DispatcherServlet.class)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnProperty("gramian.web.enabled")
    static class WebConfiguration {
        @Bean
        @ConditionalOnMissingBean
        GramianController gramianController(GramianTemplate template, GramianProperties properties) {
            return new GramianController(template, properties);
        }
    }
}
