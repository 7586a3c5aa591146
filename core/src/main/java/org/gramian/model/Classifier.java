package org.gramian.model;

import java.awt.image.BufferedImage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.gramian.image.Image;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.batch.Rendering;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;

/**
 * A trained model, ready to answer: {@code Classifier.load(path).predict(image)}.
 *
 * <p>An image's crops, those of the card, go through the model together; their probabilities are averaged. Any number of
 * threads may ask at once, and each gets the bits that it would get alone. {@link #close} waits for those who are being
 * answered; whoever asks afterwards gets an {@link IllegalStateException}.
 *
 * <p>A model that was trained on boxes of objects takes the whole image for the box: cut it by {@link Image#crop} first.
 * For many files, {@link Scoring} is faster: it decodes ahead and computes larger batches.
 */
public final class Classifier implements AutoCloseable {
    /** What keeps crops aligned as libtorch likes them. */
    private static final long ALIGNMENT = 64;

    private final Model model;
    private final ModelCard card;
    private final Rendering rendering;
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private boolean closed;

    private Classifier(Model model, ModelCard card) {
        this.model = model;
        this.card = card;
        this.rendering = card.rendering(new ImageReader(ImageLimits.DEFAULT)::read);
    }

    /**
     * Reads a model file, for the processor.
     *
     * @throws ModelFileException if it is none that can be used
     */
    public static Classifier load(Path file) throws ModelFileException {
        return load(file, Device.CPU);
    }

    /**
     * Reads a model file, for a device.
     *
     * @throws ModelFileException if it is none that can be used
     */
    public static Classifier load(Path file, Device device) throws ModelFileException {
        ModelFile.Stored stored = ModelFile.read(file, device);
        return new Classifier(stored.model(), stored.card());
    }

    /**
     * A model that is in memory already; takes it over, and closes it in the end. Nobody may train it meanwhile.
     *
     * @throws IllegalArgumentException if the card does not fit the model
     */
    public static Classifier of(Model model, ModelCard card) {
        ModelHeader.of(model, card);
        return new Classifier(model, card);
    }

    /**
     * What the image in a file shows.
     *
     * @throws UnreadableImageException if the file is no image that can be read
     */
    public Answer predict(Path file) throws UnreadableImageException {
        return switch (rendering.crops().seen(rendering.reader().apply(file))) {
            case ReadResult.Unreadable problem -> throw new UnreadableImageException(file, problem);
            case ReadResult.Readable(Image image, var _) -> predict(image);
        };
    }

    /**
     * What an image of Java shows.
     *
     * @throws IllegalArgumentException as for {@link #predict(Image)}, or if its pixels are of a kind that is not read
     */
    public Answer predict(BufferedImage image) {
        return predict(Image.of(image));
    }

    /**
     * What an image shows.
     *
     * @throws IllegalArgumentException if it is too long and thin for the crops, or the model's scores of it are not finite
     * @throws IllegalStateException if this classifier was closed
     */
    public Answer predict(Image image) {
        lock.readLock().lock();
        try (Arena arena = Arena.ofConfined()) {
            if (closed) {
                throw new IllegalStateException("this classifier is closed; load the model again");
            }
            int crops = rendering.crops().count();
            int size = rendering.crops().size();
            MemorySegment memory = arena.allocate(Math.multiplyExact(crops, rendering.bytes()), ALIGNMENT);
            // Test crops do not depend on a name: none of them is drawn.
            rendering.write(image, "", memory);
            float[][] scores = Engine.of(model).compute(memory, Shape.of(crops, 3, size, size), Engine.Rows.SCORES);
            return Answer.of(Logits.ofCrops(scores), card);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** What the model says of itself. */
    public ModelCard card() {
        return card;
    }

    /** The names it answers with, in the order of the scores. */
    public List<String> classes() {
        return card.classes();
    }

    @Override
    public void close() {
        lock.writeLock().lock();
        try {
            if (!closed) {
                closed = true;
                model.close();
            }
        } finally {
            lock.writeLock().unlock();
        }
    }
}
