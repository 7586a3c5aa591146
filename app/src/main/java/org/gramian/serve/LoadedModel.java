package org.gramian.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.gramian.explain.gradient.CroppedImage;
import org.gramian.explain.gradient.GradientExplainer;
import org.gramian.export.OpenDetector;
import org.gramian.export.OpenModel;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.NearestImages;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.Model;
import org.gramian.model.ModelHeader;
import tools.jackson.databind.node.ObjectNode;

/** A served classifier. */
public record LoadedModel(
        String name, OpenModel opened, Classifier classifier, Optional<NearestImages> nearest, Optional<Drift> recent)
        implements ServedModel {
    /** Rendered crops {@code [crops, 3, size, size]}, with the input of an explanation if one is requested. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Crops(float[] pixels, int crops, Optional<CroppedImage> view) implements Input {}

    /** How to load the model of a server, again whenever one of these files changes. */
    public record Source(List<Path> files, Loader loader) {
        /**
         * Returns the source of a model file, with the gallery beside it.
         *
         * @param rate replaces the rate of false alarms of a detector, or of unknown images of a classifier
         */
        public static Source of(Path file, OpenModel.Request request, OptionalDouble rate) {
            return new Source(List.of(file, file.resolveSibling(Gallery.FILE)), events -> {
                if (OpenDetector.isDetector(file)) {
                    return LoadedDetector.of(fileOrRun(file), OpenDetector.open(file, request), rate);
                }
                // If the file changes between these two, both are loaded again.
                Optional<NearestImages> nearest = gallery(file, events).map(NearestImages::of);
                return LoadedModel.of(fileOrRun(file), OpenModel.open(file, request), nearest, rate);
            });
        }
    }

    /** Loads a model; an {@link IOException} says that there is no usable one. */
    @FunctionalInterface
    public interface Loader {
        ServedModel load(Consumer<String> events) throws IOException;
    }

    static LoadedModel of(String name, OpenModel opened, Optional<NearestImages> nearest, OptionalDouble unknown) {
        Classifier classifier =
                unknown.isPresent() ? opened.classifier().withUnknownRate(unknown.getAsDouble()) : opened.classifier();
        return new LoadedModel(
                name,
                opened,
                classifier,
                nearest,
                classifier
                        .card()
                        .openSet()
                        .map(openSet -> new Drift(openSet.scores().size())));
    }

    /** Reads the gallery beside a model; empty if it is unusable. */
    private static Optional<Gallery> gallery(Path model, Consumer<String> events) {
        try {
            return Gallery.beside(model);
        } catch (Gallery.GalleryFileException wrong) {
            events.accept("nearest images are unavailable: " + wrong.getMessage());
            return Optional.empty();
        }
    }

    /** Returns the name of the file, or of its run folder if the file has the default name. */
    private static String fileOrRun(Path file) {
        Path folder = file.toAbsolutePath().normalize().getParent();
        return file.endsWith("model.safetensors") && folder != null && folder.getNameCount() > 0
                ? String.valueOf(folder.getFileName())
                : String.valueOf(file.getFileName());
    }

    ModelHeader header() {
        return opened.header();
    }

    @Override
    public ReadResult read(ImageSource source) {
        return classifier().read(source);
    }

    @Override
    public Input prepare(Image image, Batcher.Job job) throws HttpError {
        Optional<CroppedImage> view = Optional.empty();
        if (job.explain()) { // keeping the decoded image would take more memory
            view = Optional.of(CroppedImage.of(image, header().card()));
            job.ticket().bytes(view.get().bytes());
        }
        return new Crops(classifier().render(image), classifier().crops(), view);
    }

    @Override
    public List<Batcher.Computed> compute(List<Input> batch, Set<Engine.Rows> rows) {
        List<Crops> inputs = batch.stream().map(Crops.class::cast).toList();
        List<ImageResult.Computed> results =
                classifier().compute(inputs.stream().map(Crops::pixels).toList(), rows);
        return IntStream.range(0, results.size())
                .mapToObj(
                        i -> new Batcher.Computed(results.get(i), inputs.get(i).view()))
                .toList();
    }

    @Override
    public ObjectNode describe() {
        ObjectNode document = Api.object().put("name", name).put("kind", "classifier");
        document.putPOJO("classes", header().card().classes())
                .put("backbone", header().backbone().name())
                .put("layer", header().backbone().layer())
                .put("pooling", header().head().pooling().text())
                .put("engine", opened.engineName())
                .put("descriptorSize", header().descriptorSize())
                .put("parameters", header().count(""))
                .putPOJO("metrics", header().card().metrics());
        classifier
                .card()
                .openSet()
                .ifPresent(openSet -> document.put("unknownRate", openSet.rate())
                        .put("knownImages", openSet.scores().size()));
        recent.ifPresent(drift -> drift.state().describe(document));
        return document.put("gallery", nearest.isPresent())
                .put("explain", incompatibility().isEmpty());
    }

    /** Returns why predictions cannot be explained; empty if they can. */
    Optional<String> incompatibility() {
        return opened.gradients().isEmpty()
                ? Optional.of("its engine, " + opened.engineName() + ", computes no gradients")
                : GradientExplainer.incompatibility(header().head());
    }

    /** Returns the model in libtorch, loading it on the first call. */
    Model explained() {
        return opened.gradients().orElseThrow().get();
    }

    @Override
    public void release() {
        opened.close();
    }
}
