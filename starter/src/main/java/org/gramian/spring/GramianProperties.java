package org.gramian.spring;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Properties {@code gramian.*}.
 *
 * @param model run folder, model file or file of 'gramian export' of a classifier; unset for none
 * @param detector the same of a detector; unset for none
 * @param unknownRate rate of images of known classes that are called unknown; unset for the model's own
 * @param falseAlarms rate of good images that are called anomalous; unset for the detector's own
 * @param top number of classes in a response
 * @param web REST endpoints
 * @since 0.1
 */
@ConfigurationProperties("gramian")
public record GramianProperties(
        @Nullable Path model,
        @Nullable Path detector,
        @Nullable Double unknownRate,
        @Nullable Double falseAlarms,
        @DefaultValue("3") int top,
        @DefaultValue Web web) {
    /**
     * REST endpoints.
     *
     * @param enabled whether there are {@code POST /predict} and {@code POST /inspect}
     * @param path prefix of both, for example {@code /vision}
     * @param maxSize size above which a body is refused
     */
    public record Web(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("") String path,
            @DefaultValue("20MB") DataSize maxSize) {
        /** @throws IllegalArgumentException if the size is not one that an array can have */
        public Web {
            if (maxSize.toBytes() < 1 || maxSize.toBytes() >= Integer.MAX_VALUE) {
                throw new IllegalArgumentException("gramian.web.max-size: expected 1B to 2047MB, found " + maxSize);
            }
        }
    }

    /** @throws IllegalArgumentException if {@code top} is below 1 */
    public GramianProperties {
        if (top < 1) {
            throw new IllegalArgumentException("gramian.top: expected at least 1, found " + top);
        }
    }
}
