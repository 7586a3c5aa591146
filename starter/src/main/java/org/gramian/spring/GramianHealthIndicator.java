package org.gramian.spring;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** Up while the classifier and the detector compute a blank image. */
final class GramianHealthIndicator extends AbstractHealthIndicator {
    private final GramianTemplate template;
    private final GramianProperties properties;

    GramianHealthIndicator(GramianTemplate template, GramianProperties properties) {
        super("the model does not compute");
        this.template = template;
        this.properties = properties;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        template.check();
        builder.up();
        detail(builder, "model", properties.model());
        detail(builder, "detector", properties.detector());
    }

    private static void detail(Health.Builder builder, String name, @Nullable Path model) {
        if (model != null) {
            builder.withDetail(name, model.toString());
        }
    }
}
