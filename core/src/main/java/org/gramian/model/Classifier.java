package org.gramian.model;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.gramian.autodiff.ParameterSet;
import org.gramian.basis.FileLoader;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.tensor.Device;

/**
 * A trained model: the way from images to predictions and descriptors.
 *
 * <p>An image is decoded, cropped and preprocessed as the card says; an {@link Engine} computes scores and descriptors
 * of its crops; the probabilities of the crops are averaged. {@link #predict(Path)} does this for one image, {@link
 * #predict(List)} and {@link #run} for many: they decode ahead of the engine and compute larger batches. A server that
 * forms batches of its own calls the steps one by one: {@link #read}, {@link #render}, {@link #compute}.
 *
 * <p>Thread-safe: every thread gets the bits that it would get alone. {@link #close} waits for running calls; later
 * calls throw {@link IllegalStateException}.
 *
 * <p>A model that was trained on object boxes takes the whole image as the box: cut the image with {@link Image#crop}
 * first, or give sources with boxes to a classifier {@linkplain #withCrops with the card's own crops}.
 *
 * @since 0.1
 */
public final class Classifier implements AutoCloseable {
    private static final int FITTED = 0;

    private final SharedEngine shared;
    private final ModelCard card;
    private final Crops crops;
    private final int batch;
    private final int threads;

    /** An engine and its lifetime, shared by the classifiers that are derived from one. */
    private static final class SharedEngine {
        private final Engine engine;
        private final Runnable release;
        private final ReadWriteLock lock = new ReentrantReadWriteLock();
        private boolean closed;

        SharedEngine(Engine engine, Runnable release) {
            this.engine = engine;
            this.release = release;
        }

        <T> T use(Supplier<T> work) {
            lock.readLock().lock();
            try {
                if (closed) {
                    throw new IllegalStateException("this classifier is closed; load the model again");
                }
                return work.get();
            } finally {
                lock.readLock().unlock();
            }
        }

        void close() {
            lock.writeLock().lock();
            try {
                if (!closed) {
                    closed = true;
                    release.run();
                }
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    private Classifier(SharedEngine shared, ModelCard card, Crops crops, int batch, int threads) {
        this.shared = shared;
        this.card = card;
        this.crops = crops;
        this.batch = batch;
        this.threads = threads;
    }

    /**
     * Loads a model for the CPU: in ONNX Runtime if {@code gramian-predict} is on the class path, else in libtorch.
     *
     * @param path model file, or the run folder that holds it; with {@code gramian-predict} also a file of 'gramian export'
     * @throws IOException if it is not a usable model
     */
    public static Classifier load(Path path) throws IOException {
        Optional<FileLoader<Classifier>> loader = FileLoader.of(Classifier.class);
        return loader.isPresent() ? loader.get().load(ModelFile.in(path)) : load(path, Device.CPU);
    }

    /**
     * Loads a model in libtorch.
     *
     * @throws ModelFileException if it is not a usable model
     */
    public static Classifier load(Path path, Device device) throws ModelFileException {
        ModelFile.Stored stored = ModelFile.read(ModelFile.in(path), device);
        return of(stored.model(), stored.card());
    }

    /**
     * Wraps a model in memory, which must not be trained meanwhile: its batch norms are folded once. Closing the
     * classifier closes the model.
     *
     * @throws IllegalArgumentException if the card does not fit the model
     */
    public static Classifier of(Model model, ModelCard card) {
        ModelHeader.of(model, card);
        ParameterSet folded = model.backbone().folded(model.backboneParameters());
        return of(new Engine.OfModel(model, folded), card, () -> {
            folded.close();
            model.close();
        });
    }

    /** Wraps an engine that the caller closes. */
    public static Classifier of(Engine engine, ModelCard card) {
        return of(engine, card, () -> {});
    }

    /**
     * Wraps an engine.
     *
     * @param release frees the engine when the classifier is closed
     */
    public static Classifier of(Engine engine, ModelCard card, Runnable release) {
        return new Classifier(
                new SharedEngine(engine, release),
                card,
                card.crops().whole().testing(), // whole images also for a model that was trained on boxes
                FITTED,
                Runtime.getRuntime().availableProcessors());
    }

    /**
     * Returns a classifier with other crops. A plan for object boxes takes the boxes of the sources. It shares the
     * engine: closing either closes both.
     */
    public Classifier withCrops(CropPlan plan) {
        return new Classifier(shared, card, plan.testing(), batch, threads);
    }

    /**
     * Returns a classifier with another batch size in {@link #run}, in crops. It shares the engine: closing either
     * closes both. By default a batch has {@value InferencePipeline#DEFAULT_BATCH} crops, or as many as there are if
     * those are fewer.
     */
    public Classifier withBatch(int size) {
        if (size < 1) {
            throw new IllegalArgumentException("expected at least 1 crop per batch, found " + size);
        }
        return new Classifier(shared, card, crops, size, threads);
    }

    /**
     * Returns a classifier with another number of decoding threads. It shares the engine: closing either closes both.
     */
    public Classifier withThreads(int count) {
        return new Classifier(shared, card, crops, batch, count);
    }

    /**
     * Returns a classifier with another rate of images of known classes that are called unknown. It shares the engine: closing either closes
     * both.
     *
     * @throws IllegalArgumentException if the model cannot recognize unknown images
     */
    public Classifier withUnknownRate(double rate) {
        OpenSet openSet = card.openSet()
                .orElseThrow(() -> new IllegalArgumentException(
                        "this model cannot recognize unknown images; train it again with more images of each class"));
        return new Classifier(shared, card.with(Optional.of(openSet.withRate(rate))), crops, batch, threads);
    }

    /**
     * Predicts the class of an image file.
     *
     * @throws UnreadableImageException if the file is not a readable image
     */
    public Prediction predict(Path file) throws UnreadableImageException {
        return predict(decode(ImageSource.of(file)));
    }

    /**
     * Predicts the class of an image file's content.
     *
     * @throws UnreadableImageException if it is not a readable image
     */
    public Prediction predict(byte[] content) throws UnreadableImageException {
        return predict(decode(ImageSource.of("image in memory", content)));
    }

    /**
     * Predicts the class of an image file's content; reads the stream to its end and leaves it open.
     *
     * @throws UnreadableImageException if it is not a readable image
     */
    public Prediction predict(InputStream content) throws IOException {
        return predict(content.readAllBytes());
    }

    /**
     * Predicts the class of an image of Java's own image type.
     *
     * @throws IllegalArgumentException as {@link #predict(Image)}, or if its pixel type is not supported
     */
    public Prediction predict(BufferedImage image) {
        return predict(Image.of(image));
    }

    /**
     * Predicts the class of a decoded image.
     *
     * @throws IllegalArgumentException if it is too thin for the crops, or a score is not finite
     */
    public Prediction predict(Image image) {
        return compute(List.of(render(image)), predicting()).getFirst().toPrediction(card);
    }

    /** Predicts the classes of image files: decoding works ahead of the model, which computes larger batches. */
    public Predictions predict(List<Path> files) {
        SequencedMap<Path, Prediction> found = new LinkedHashMap<>();
        SequencedMap<Path, String> failed = new LinkedHashMap<>();
        run(files.stream().map(ImageSource::of).toList(), predicting(), (index, result) -> {
            switch (result) {
                case ImageResult.Computed computed ->
                    found.put(files.get(index), computed.prediction().orElseThrow());
                case ImageResult.Failed problem -> failed.put(files.get(index), problem.reason());
            }
        });
        return new Predictions(found, failed);
    }

    /**
     * Computes the descriptor of an image file: the mean over its crops.
     *
     * @throws UnreadableImageException if the file is not a readable image
     */
    public float[] describe(Path file) throws UnreadableImageException {
        return describe(decode(ImageSource.of(file)));
    }

    /**
     * Computes the descriptor of a decoded image: the mean over its crops.
     *
     * @throws IllegalArgumentException if it is too thin for the crops
     */
    public float[] describe(Image image) {
        return one(image, Engine.Rows.DESCRIPTORS).descriptor();
    }

    /** Returns the rows that a prediction needs. */
    public Set<Engine.Rows> predicting() {
        return card.openSet().isPresent()
                ? EnumSet.of(Engine.Rows.SCORES, Engine.Rows.DISTANCES)
                : EnumSet.of(Engine.Rows.SCORES);
    }

    /**
     * Decodes an image and checks that the crops can be taken from it.
     *
     * @throws UnreadableImageException if it is not a readable image
     */
    public Image decode(ImageSource source) throws UnreadableImageException {
        return switch (read(source)) {
            case ReadResult.Unreadable problem -> throw new UnreadableImageException(source.name(), problem);
            case ReadResult.Readable(Image image, var _) -> image;
        };
    }

    private ImageResult.Computed one(Image image, Engine.Rows kind) {
        return compute(List.of(render(image)), Set.of(kind)).getFirst();
    }

    /**
     * Computes many images: decoding threads work ahead of the engine, results arrive in order. An unreadable image, or
     * one whose scores are not finite, is a {@link ImageResult.Failed}.
     *
     * @param kinds rows to compute in one pass; with scores, results have predictions
     * @param listener receives the result of each image in order; must not close this classifier
     */
    public void run(List<ImageSource> images, Set<Engine.Rows> kinds, ImageResult.Listener listener) {
        if (images.isEmpty()) {
            return;
        }
        ImageResult.Listener predicting = (index, result) -> listener.accept(
                index,
                result instanceof ImageResult.Computed computed && kinds.contains(Engine.Rows.SCORES)
                        ? computed.predicted(card)
                        : result);
        shared.use(() -> {
            pipeline(images.size()).run(images, kinds, predicting);
            return true;
        });
    }

    /** Batches are padded to their size: for a few images a whole one would be mostly wasted. */
    private InferencePipeline pipeline(int images) {
        long count = (long) crops.count() * images;
        int size = batch == FITTED ? (int) Math.min(InferencePipeline.DEFAULT_BATCH, count) : batch;
        return new InferencePipeline(shared.engine, crops, card.preprocessing(), size, threads);
    }

    /** Decodes an image and checks that the crops can be taken from it: the first step of a prediction. */
    public ReadResult read(ImageSource source) {
        return crops.validate(source.reader().get(), source.box());
    }

    /**
     * Crops and preprocesses a decoded image: the second step of a prediction.
     *
     * @return {@code [crops, 3, size, size]}
     * @throws IllegalArgumentException if the image is too thin for the crops
     */
    public float[] render(Image image) {
        return pipeline(1).render(image);
    }

    /**
     * Computes rendered images in one batch: the third step of a prediction.
     *
     * @param images results of {@link #render}, at least one
     * @param kinds rows to compute in one pass
     * @return one result per image, in their order, without predictions
     */
    public List<ImageResult.Computed> compute(List<float[]> images, Set<Engine.Rows> kinds) {
        return shared.use(() -> pipeline(images.size()).compute(images, kinds));
    }

    /** Returns the number of crops of an image that are averaged. */
    public int crops() {
        return crops.count();
    }

    /** Returns the engine. */
    public Engine engine() {
        return shared.engine;
    }

    /** Returns the card: classes, preprocessing, temperature, origin, metrics. */
    public ModelCard card() {
        return card;
    }

    /** Returns the class names, in the order of the scores. */
    public List<String> classes() {
        return card.classes();
    }

    @Override
    public void close() {
        shared.close();
    }
}
