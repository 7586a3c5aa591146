package org.gramian.anomaly;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.gramian.basis.FileLoader;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.image.resize.Resize;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelFileException;
import org.gramian.model.UnreadableImageException;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;

/**
 * A detector of anomalies, trained on good images only.
 *
 * <pre>{@code
 * try (Detector detector = Detector.load(Path.of("run"))) {
 *     Inspection inspection = detector.inspect(Path.of("part.png"));
 *     if (inspection.isAnomalous()) {
 *         System.out.println(inspection.regions());
 *     }
 * }
 * }</pre>
 *
 * <p>Not thread-safe; use one detector per thread.
 *
 * @since 0.1
 */
public final class Detector implements AutoCloseable {
    private final DetectorEngine engine;
    private final DetectorCard card;

    private Detector(DetectorEngine engine, DetectorCard card) {
        this.engine = engine;
        this.card = card;
    }

    /**
     * Loads a detector for the CPU: in ONNX Runtime if {@code gramian-predict} is on the class path, else in libtorch.
     *
     * @param path model file, or the run folder that holds it; with {@code gramian-predict} also a file of 'gramian export'
     * @throws IOException if it is not a usable detector
     */
    public static Detector load(Path path) throws IOException {
        Optional<FileLoader<Detector>> loader = FileLoader.of(Detector.class);
        return loader.isPresent() ? loader.get().load(ModelFile.in(path)) : load(path, Device.CPU);
    }

    /**
     * Loads a detector in libtorch.
     *
     * @throws ModelFileException if it is not a usable detector
     */
    public static Detector load(Path path, Device device) throws ModelFileException {
        DetectorFile.Stored stored = DetectorFile.read(ModelFile.in(path), device);
        return of(new LibtorchDetector(stored), stored.card());
    }

    /** Returns whether a file holds a detector, by its header. */
    public static boolean isDetector(Path file) {
        return DetectorFile.isDetector(file);
    }

    /** Wraps an engine, which is closed with the detector. */
    public static Detector of(DetectorEngine engine, DetectorCard card) {
        return new Detector(engine, card);
    }

    /** Returns this detector with another rate of false alarms; closing either closes both. */
    public Detector withFalseAlarms(double rate) {
        return new Detector(engine, card.withFalseAlarms(rate));
    }

    /** Returns the card: sizes, calibration, rate of false alarms, origin. */
    public DetectorCard card() {
        return card;
    }

    /** Returns the engine. */
    public DetectorEngine engine() {
        return engine;
    }

    /** Returns the rate of false alarms: a good image is anomalous with at most this probability. */
    public double falseAlarms() {
        return card.falseAlarms();
    }

    /**
     * Inspects an image file.
     *
     * @throws UnreadableImageException if the file is not a readable image
     */
    public Inspection inspect(Path file) throws UnreadableImageException {
        return inspect(ImageSource.of(file));
    }

    /**
     * Inspects the content of an image file.
     *
     * @throws UnreadableImageException if it is not a readable image
     */
    public Inspection inspect(byte[] content) throws UnreadableImageException {
        return inspect(ImageSource.of("image in memory", content));
    }

    /**
     * Inspects an image.
     *
     * @throws UnreadableImageException if it cannot be read
     */
    public Inspection inspect(ImageSource source) throws UnreadableImageException {
        return switch (source.reader().get()) {
            case ReadResult.Unreadable problem -> throw new UnreadableImageException(source.name(), problem);
            case ReadResult.Readable(Image image, var _) -> inspect(image);
        };
    }

    /** Inspects an image of Java's own image type. */
    public Inspection inspect(BufferedImage image) {
        return inspect(Image.of(image));
    }

    /** Inspects a decoded image. */
    public Inspection inspect(Image image) {
        return inspect(image, image.width(), image.height());
    }

    /** Returns all that is needed of an image: the resized one, or the whole one for tiles. */
    public Image reduced(Image image) {
        return card.tile() > 0 ? image : Resize.to(image, card.width(), card.height());
    }

    /**
     * Inspects a {@linkplain #reduced reduced} image.
     *
     * @param width width of the whole image, in whose pixels the regions are
     * @param height height of the whole image
     */
    public Inspection inspect(Image image, int width, int height) {
        Tiles tiles = Tiles.of(image.width(), image.height(), card.tile());
        List<DetectorEngine.Output> outputs = new ArrayList<>();
        for (Tiles.Tile tile : tiles.all()) {
            outputs.add(engine.compute(tile.cut(image)));
        }
        double score =
                outputs.stream().mapToDouble(DetectorEngine.Output::score).max().orElseThrow();
        AnomalyMap map = tiles.joined(outputs, width, height);
        double pValue = card.pValue(score);
        boolean anomalous = pValue <= card.falseAlarms();
        return new Inspection(score, pValue, anomalous, map, anomalous ? map.regions(card.mapThreshold()) : List.of());
    }

    /** Writes the detector as a model file, atomically. Only detectors of libtorch can be written. */
    public void save(Path file) throws IOException {
        if (!(engine instanceof LibtorchDetector libtorch)) {
            throw new IllegalStateException("expected a detector that was trained or loaded from a model file");
        }
        DetectorFile.write(
                file,
                new DetectorFile.Stored(
                        libtorch.stored().features(), libtorch.stored().model(), card));
    }

    @Override
    public void close() {
        engine.close();
    }

    /** Libtorch with the tensors of a model file. */
    record LibtorchDetector(DetectorFile.Stored stored) implements DetectorEngine {
        @Override
        public Output compute(Image image) {
            try (Scope _ = Scope.open()) {
                Features features = stored.features();
                AnomalyModel.Distances distances =
                        stored.model().distances(features.compute(List.of(features.render(image))))[0];
                return output(distances, stored.card(), features);
            }
        }

        static Output output(AnomalyModel.Distances distances, DetectorCard card, Features features) {
            float[] map = distances.map().clone();
            for (int i = 0; i < map.length; i++) {
                map[i] = (float) (map[i] / card.patchScale());
            }
            double patches = distances.top() / card.patchScale();
            double score = card.wholeScale() > 0 ? (patches + distances.whole() / card.wholeScale()) / 2 : patches;
            var grid = features.grid();
            return new Output(score, Math.toIntExact(grid.at(0)), Math.toIntExact(grid.at(1)), map);
        }

        @Override
        public void close() {
            stored.close();
        }
    }

    /**
     * Tiles of an image: a grid without gaps; the last tile of a row or column ends with the image.
     *
     * @param all tiles, row by row
     */
    record Tiles(List<Tile> all, int across) {
        record Tile(int x, int y, int width, int height) {
            Image cut(Image image) {
                return width == image.width() && height == image.height() ? image : image.crop(x, y, width, height);
            }
        }

        static Tiles of(int width, int height, int side) {
            if (side == 0) {
                return new Tiles(List.of(new Tile(0, 0, width, height)), 1);
            }
            int tileWidth = Math.min(side, width);
            int tileHeight = Math.min(side, height);
            int across = Math.ceilDiv(width, tileWidth);
            int down = Math.ceilDiv(height, tileHeight);
            List<Tile> all = new ArrayList<>();
            for (int row = 0; row < down; row++) {
                for (int column = 0; column < across; column++) {
                    all.add(new Tile(
                            Math.min(column * tileWidth, width - tileWidth),
                            Math.min(row * tileHeight, height - tileHeight),
                            tileWidth,
                            tileHeight));
                }
            }
            return new Tiles(all, across);
        }

        /** Joins the maps of tiles; where tiles overlap the larger score counts. */
        AnomalyMap joined(List<DetectorEngine.Output> outputs, int width, int height) {
            DetectorEngine.Output first = outputs.getFirst();
            if (all.size() == 1) {
                return new AnomalyMap(first.rows(), first.columns(), first.map(), width, height);
            }
            Tile size = all.getFirst();
            int columns = Math.max(1, (int) Math.round((double) first.columns() * width / size.width()));
            int rows = Math.max(1, (int) Math.round((double) first.rows() * height / size.height()));
            float[] joined = new float[rows * columns];
            Arrays.fill(joined, Float.NEGATIVE_INFINITY);
            for (int i = 0; i < all.size(); i++) {
                Tile tile = all.get(i);
                DetectorEngine.Output output = outputs.get(i);
                int top = (int) Math.round((double) tile.y() * rows / height);
                int left = (int) Math.round((double) tile.x() * columns / width);
                for (int row = 0; row < output.rows() && top + row < rows; row++) {
                    for (int column = 0; column < output.columns() && left + column < columns; column++) {
                        int at = (top + row) * columns + left + column;
                        joined[at] = Math.max(joined[at], output.map()[row * output.columns() + column]);
                    }
                }
            }
            for (int i = 0; i < joined.length; i++) {
                joined[i] = joined[i] == Float.NEGATIVE_INFINITY
                        ? 0
                        : joined[i]; // rounding leaves at most one line of cells
            }
            return new AnomalyMap(rows, columns, joined, width, height);
        }
    }

    /** Computes the score and the map of an image or tile: libtorch, or another runtime with the same network. */
    public interface DetectorEngine extends AutoCloseable {
        /**
         * Score and map of one image.
         *
         * @param score 1 is typical of a good image
         * @param rows rows of the map
         * @param columns columns of the map
         * @param map scores row by row
         */
        @SuppressWarnings("ArrayRecordComponent") // made once, read once
        record Output(double score, int rows, int columns, float[] map) {}

        /** Computes one image or tile. */
        Output compute(Image image);

        @Override
        void close();
    }
}
