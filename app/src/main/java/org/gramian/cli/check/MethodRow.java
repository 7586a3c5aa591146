package org.gramian.cli.check;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Locale;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.backbone.Backbone;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.Method;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * What is shown of a method on a backbone, in print and as JSON.
 *
 * @param name what users type
 * @param title what it is called in tables
 * @param family what it belongs to
 * @param pooling its text
 * @param backbone the network that it stands on
 * @param layer where that is cut
 * @param images how many there are to train on
 * @param settled the text with all decided that it leaves open
 * @param classifier what reads the descriptor
 * @param descriptor numbers in it
 * @param trained numbers of the pooling that training moves
 * @param fitted numbers of the pooling that are fitted once
 * @param unfit why it cannot stand on the backbone, where it cannot; the settled text and the numbers are then absent
 * @param formula what it computes
 * @param reference where it is published
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record MethodRow(
        String name,
        String title,
        String family,
        String pooling,
        String backbone,
        String layer,
        @JsonProperty("pictures") int images,
        @Nullable String settled,
        String classifier,
        @Nullable Long descriptor,
        @Nullable Long trained,
        @Nullable Long fitted,
        @Nullable String unfit,
        String formula,
        String reference) {

    /** What a method is like on a backbone. */
    private record Size(String settled, long descriptor, long trained, long fitted) {}

    static MethodRow of(Method method, Backbone backbone, int images) {
        Size size = null;
        String reason = null;
        try {
            size = size(Pooling.parse(method.pooling()), backbone, images);
        } catch (IllegalArgumentException unfit) {
            reason = unfit.getMessage();
        }
        return new MethodRow(
                method.name(),
                method.title(),
                method.family().text(),
                method.pooling(),
                backbone.name(),
                backbone.layer(),
                images,
                size == null ? null : size.settled(),
                method.classifier(),
                size == null ? null : size.descriptor(),
                size == null ? null : size.trained(),
                size == null ? null : size.fitted(),
                reason,
                method.formula(),
                method.reference());
    }

    private static Size size(Pooling open, Backbone backbone, int images) {
        Pooling pooling = open.settled(backbone, images);
        requirePositions(pooling.aggregation(), backbone);
        long channels = backbone.channels();
        long descriptor = pooling.descriptorSize(channels);
        List<ParameterSpec> parameters = pooling.parameters(channels);
        return new Size(pooling.text(), descriptor, count(parameters, false), count(parameters, true));
    }

    private static void requirePositions(Aggregation aggregation, Backbone backbone) {
        int side = backbone.about().size();
        Shape features = backbone.features(side, side);
        if (Math.min(features.at(1), features.at(2)) < aggregation.leastSide()) {
            throw new IllegalArgumentException(aggregation.text() + " needs maps of at least "
                    + aggregation.leastSide() + "×" + aggregation.leastSide() + " positions; " + backbone + " gives "
                    + features.at(1) + "×" + features.at(2) + " of images of " + side + "×" + side);
        }
    }

    private static long count(List<ParameterSpec> parameters, boolean fitted) {
        return parameters.stream()
                .filter(spec -> fitted == (spec.role() == Role.FITTED))
                .mapToLong(spec -> spec.shape().elements())
                .sum();
    }

    /** The descriptor's size as a cell. */
    String descriptorText() {
        return number(descriptor);
    }

    /** All numbers of the pooling as a cell. */
    String parametersText() {
        return trained == null || fitted == null ? "-" : number(trained + fitted);
    }

    static String number(@Nullable Long count) {
        return count == null ? "-" : String.format(Locale.ROOT, "%,d", count);
    }
}
