package org.gramian.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.BackboneInfo;
import org.gramian.image.crop.Preprocessing;

/**
 * What is shown of a backbone, in print and as JSON.
 *
 * @param name what users type
 * @param title its name in full
 * @param citation the paper
 * @param trainedAt rows and columns of the images it was trained on
 * @param defaultLayer where it is cut unless told otherwise
 * @param features shape of that layer's output, empty where images of the asked size do not fit
 * @param parameters up to that layer
 * @param parametersInAll up to the last layer
 * @param preprocessing what the weights expect of images
 * @param weights where they come from
 * @param layers all layers, where they were asked for
 */
record BackboneRow(
        String name,
        String title,
        String citation,
        int trainedAt,
        String defaultLayer,
        List<Long> features,
        long parameters,
        long parametersInAll,
        Preprocessing preprocessing,
        BackboneInfo.Weights weights,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Layer> layers) {

    /** A layer, the shape of its output, and the parameters up to it. */
    record Layer(String name, List<Long> output, long parameters) {
        String shape() {
            return text(output);
        }
    }

    static BackboneRow of(Backbone backbone, int size) {
        return of(backbone, size, List.of());
    }

    static BackboneRow withLayers(Backbone backbone, int size) {
        return of(
                backbone,
                size,
                backbone.layers().stream()
                        .map(backbone::cutAt)
                        .map(cut -> new Layer(cut.layer(), output(cut, size), cut.parameterCount()))
                        .toList());
    }

    private static BackboneRow of(Backbone backbone, int size, List<Layer> layers) {
        BackboneInfo about = backbone.about();
        return new BackboneRow(
                backbone.name(),
                about.title(),
                about.citation(),
                about.size(),
                backbone.defaultLayer(),
                output(backbone, size),
                backbone.parameterCount(),
                backbone.cutAt(backbone.layers().getLast()).parameterCount(),
                about.preprocessing(),
                about.weights(),
                layers);
    }

    private static List<Long> output(Backbone backbone, int size) {
        return backbone.fits(size, size)
                ? LongStream.of(backbone.features(size, size).sizes()).boxed().toList()
                : List.of();
    }

    String shape() {
        return text(features);
    }

    private static String text(List<Long> sizes) {
        return sizes.isEmpty()
                ? "does not fit"
                : sizes.stream().map(String::valueOf).collect(Collectors.joining("×"));
    }
}
