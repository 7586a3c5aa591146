package org.gramian.image.augment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.gramian.image.Image;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.augment.Augmentation.Draw;
import org.gramian.image.augment.Augmentation.Geometry;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.dataset.Sample;
import org.gramian.image.resize.Resize;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.io.TempDir;

class ImageStoreTest {
    private static final int CANVAS = 62;
    private static final Crops CROPS = CropPlan.parse("center:48").training(0);

    @TempDir
    private Path folder = Path.of("");

    private final List<Sample> samples = new ArrayList<>();
    private final Map<Path, Image> images = new HashMap<>();

    private void add(Image image) {
        Path file = Path.of("image" + samples.size());
        samples.add(new Sample(file.toString(), 0, file));
        images.put(file, image);
    }

    private void addSome(Seed seed) {
        for (int i = 0; i < 12; i++) {
            add(CropRendererTest.noise(seed, 30 + 17 * i, 120 - 5 * i));
        }
    }

    private ReadResult read(Path file) {
        Image image = images.get(file);
        return image == null
                ? new ReadResult.Unreadable(ReadResult.Problem.EMPTY, "no bytes in " + file)
                : new ReadResult.Readable(
                        image,
                        new ImageInfo(ImageFormat.PNG, ImageInfo.Colour.RGB, 8, image.width(), image.height(), 1));
    }

    private ImageStore store(int threads, long hostBytes, List<Long> progress) {
        return ImageStore.read(
                samples,
                this::read,
                CROPS,
                new ImageStore.Options(CANVAS, threads, hostBytes, folder),
                (sample, problem) -> new IllegalStateException(sample.name() + ": " + problem.reason()),
                progress::add);
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.toList();
        }
    }

    @RandomTest(times = 2)
    void reducesImagesToCanvas(Seed seed) throws IOException {
        addSome(seed);
        for (int threads : List.of(1, 3)) {
            List<Long> progress = new ArrayList<>();
            try (ImageStore store = store(threads, 1 << 30, progress)) {
                assertThat(store.count()).isEqualTo(samples.size());
                assertThat(progress)
                        .isEqualTo(LongStream.rangeClosed(1, 12).boxed().toList());
                requireImages(store);
            }
        }
        assertThat(files()).isEmpty();
    }

    private void requireImages(ImageStore store) {
        for (int i = 0; i < samples.size(); i++) {
            Image whole = Objects.requireNonNull(images.get(samples.get(i).file()));
            int shorter = Math.min(whole.width(), whole.height());
            Image expected = shorter > CANVAS ? Resize.shortSide(whole, CANVAS) : whole;
            assertThat(store.width(i)).isEqualTo(expected.width());
            assertThat(store.height(i)).isEqualTo(expected.height());
            assertThat(store.image(i).rgb()).isEqualTo(expected.rgb());
        }
    }

    @RandomTest(times = 2)
    void spillsToScratchFile(Seed seed) throws IOException {
        addSome(seed);
        try (ImageStore store = store(2, 100_000, new ArrayList<>())) {
            assertThat(store.pieces()).anyMatch(MemorySegment::isMapped);
            assertThat(store.bytes())
                    .isEqualTo(IntStream.range(0, store.count())
                            .mapToLong(i -> 3L * store.width(i) * store.height(i))
                            .sum());
            requireImages(store);
        }
        assertThat(files()).isEmpty();
    }

    @RandomTest(times = 2)
    void rejectsUnreadableImage(Seed seed) throws IOException {
        addSome(seed);
        images.remove(samples.get(5).file());
        assertRejected(IllegalStateException.class, () -> store(2, 100_000, new ArrayList<>()), "image5");
        assertThat(files()).isEmpty();
    }

    @RandomTest(times = 4)
    void gpuEqualsCpu(Seed seed) {
        Device gpu = Gpu.required();
        addSome(seed);
        for (Preprocessing preprocessing : List.of(Preprocessing.TORCHVISION, Preprocessing.CAFFE)) {
            CropRenderer renderer = new CropRenderer(48, preprocessing);
            try (Scope _ = Scope.open();
                    ImageStore store = store(2, 100_000, new ArrayList<>());
                    ResidentImages resident =
                            ResidentImages.of(store, renderer, gpu).orElseThrow()) {
                List<CropParameters> drawn = IntStream.range(0, store.count())
                        .mapToObj(i -> Augmentation.parse("strong+erase:0.5")
                                .draw(
                                        new Draw(seed.random().nextLong(), 1, i),
                                        new Geometry(store.width(i), store.height(i), i % 2 == 0),
                                        48))
                        .toList();
                resident.set(drawn);
                long[] places = {7, 0, 11, 7, 3, 5};
                Tensor found = resident.render(
                        Tensors.ofLongs(places, Shape.of(places.length)).to(gpu));
                float[] values = found.toFloats();
                for (int row = 0; row < places.length; row++) {
                    int place = (int) places[row];
                    float[] expected = new float[3 * 48 * 48];
                    renderer.render(store.image(place), drawn.get(place), MemorySegment.ofArray(expected));
                    for (int i = 0; i < expected.length; i++) {
                        assertThat(values[row * expected.length + i])
                                .as("image %d, element %d", place, i)
                                .isCloseTo(expected[i], within(1e-3f));
                    }
                }
            }
        }
    }
}
