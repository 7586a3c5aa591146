package org.gramian.evaluate.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.MadeUp;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Gallery.GalleryBuilder;
import org.gramian.gallery.Gallery.Item;
import org.gramian.gallery.Gallery.Subset;
import org.gramian.image.Image;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.resize.Thumbnail;
import org.gramian.model.Logits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LabelReviewTest {
    private static final List<String> CLASSES = List.of("bark", "=moss", "stone");
    private static final Set<Integer> EXCHANGED = Set.of(2, 17, 41);

    @TempDir
    private Path folder = Path.of("");

    private static String name(int i) {
        return (i % 2 == 0 ? "=" : "") + i + ", \"ü\".png";
    }

    private static int label(int i) {
        return EXCHANGED.contains(i) ? (i + 1) % 3 : i % 3;
    }

    /** Three Gaussian classes of 20 images around different axes. */
    private static Gallery gallery() {
        SplittableRandom random = new SplittableRandom(5);
        byte[] thumbnail = Thumbnail.of(new Image(1, 1, new byte[3]));
        GalleryBuilder builder = new GalleryBuilder(CLASSES, 12, "0123456789abcdef".repeat(4));
        for (int i = 0; i < 60; i++) {
            float[] descriptor = new float[12];
            for (int j = 0; j < 12; j++) {
                descriptor[j] = (float) (0.2 * random.nextGaussian()) + (j == i % 3 ? 1 : 0);
            }
            builder.add(new Item(name(i), label(i), Subset.TRAINING), thumbnail, new float[][] {descriptor});
        }
        return builder.build();
    }

    /** Predictions that know the true class. */
    private static List<Evaluation> predictions() {
        List<ImagePrediction> all = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            double[] logits = {0, 0, 0};
            logits[i % 3] = 2;
            all.add(new ImagePrediction(name(i), label(i), Logits.of(logits)));
        }
        return List.of(new Evaluation(MadeUp.SETTING, CLASSES, all));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void exchangedLabelsComeFirst(boolean predicted) {
        LabelReview review = LabelReview.of(gallery(), predicted ? predictions() : List.of());
        assertThat(review.rows()).hasSize(60);
        assertThat(review.rows().subList(0, 3)).allSatisfy(row -> {
            assertThat(EXCHANGED).contains(row.index());
            assertThat(row.suggested()).isEqualTo(CLASSES.get(row.index() % 3));
            assertThat(row.suspicion()).isBetween(0.5, 1.0);
        });
        assertThat(review.rows().subList(3, 60).stream().filter(LabelReview.Row::isSuspicious))
                .hasSizeLessThan(3);
    }

    @Test
    void neighboursLeaveTheImageOut() {
        assertThat(LabelReview.of(gallery(), List.of()).rows())
                .allSatisfy(row -> assertThat(row.neighbours()).hasSize(10).doesNotContain(row.index()));
    }

    @Test
    void listReadsBackAsLabels() throws IOException {
        Path list = folder.resolve(LabelReview.FILE);
        LabelReview.of(gallery(), List.of()).write(list);
        List<Sample> samples = gallery().items().stream()
                .map(item -> new Sample(item.name(), item.label(), folder.resolve(item.name())))
                .toList();
        Dataset dataset = new Dataset(folder, CLASSES, samples);
        assertThat(Layouts.relabelled(dataset, list).samples()).isEqualTo(samples);
        assertThat(Layouts.relabelled(dataset, list).notes()).isEmpty();
        Files.writeString(list, Files.readString(list).replaceAll("(?m),[^,\n]+,([^,\n]+),([0-9.]+)$", ",$1,$1,$2"));
        Dataset corrected = Layouts.relabelled(dataset, list);
        for (int i : EXCHANGED) {
            assertThat(corrected.samples().get(i).label()).isEqualTo(i % 3);
        }
    }

    @Test
    void classOfOneImageIsReviewedByNeighbours() {
        byte[] thumbnail = Thumbnail.of(new Image(1, 1, new byte[3]));
        GalleryBuilder builder = new GalleryBuilder(CLASSES, 2, "0123456789abcdef".repeat(4));
        for (int i = 0; i < 4; i++) {
            float[][] descriptor = {{1, i}};
            builder.add(new Item(name(i), Math.min(i, 2), Subset.TRAINING), thumbnail, descriptor);
        }
        assertThat(LabelReview.of(builder.build(), List.of()).rows())
                .hasSize(4)
                .allSatisfy(row -> assertThat(row.suspicion()).isBetween(0.0, 1.0));
    }
}
