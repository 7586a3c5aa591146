package org.gramian.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.explain.Explainer.Settings;
import org.gramian.explain.Faithfulness.Explained;
import org.gramian.explain.Faithfulness.Trial;
import org.gramian.image.Image;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.tensor.Device;
import org.gramian.testing.SharedFolder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The table of {@code docs/explain.md}: how faithful maps are on photographs of FMD, by a trained model. */
@EnabledIfSystemProperty(named = "gramian.explain.model", matches = ".+", disabledReason = "wants a trained model")
class FaithfulnessMeasurementTest {
    private static final int IMAGES = Integer.getInteger("gramian.explain.images", 50);

    /** The fold of the division that is looked at: 0 is what a model of fold 1 is tested on, 1 and 2 what it learned. */
    private static final String FOLD = System.getProperty("gramian.explain.fold", "0");

    private static final String LAYER = System.getProperty("gramian.explain.layer", "");

    /** Crops to look by in place of the model's own: only several of them overlap. */
    private static final String CROPS = System.getProperty("gramian.explain.crops", "");

    /** Of a hundred images, those whose map must hold at least where the usual attribution drew it. */
    private static final int HOLDS = 80;

    private record Photograph(Image image, int label) {}

    /** How many maps held, and by how much the score fell in the mean. */
    private record Tally(int held, double hottest, double others) {
        String line(Attribution attribution) {
            return String.format(
                    Locale.ROOT, "| %s | %d of %d | %.3f | %.3f |", attribution.text(), held, IMAGES, hottest, others);
        }
    }

    @Test
    void theHottestFifthMattersMoreThanOthers() throws IOException {
        Path file = Path.of(System.getProperty("gramian.explain.model"));
        Path table = Path.of("target", "full-results", "explain-" + FOLD + LAYER + CROPS + ".md");
        Files.createDirectories(table.getParent());
        List<String> lines = new ArrayList<>();
        try (ModelFile.Stored stored = ModelFile.read(file, Device.CPU)) {
            List<Photograph> photographs = photographs(stored);
            for (Attribution attribution : attributions()) {
                Tally tally = tally(stored, attribution, photographs);
                lines.add(tally.line(attribution));
                Files.write(table, lines);
                if (attribution == Settings.DEFAULT.attribution()) {
                    assertThat(tally.held).as(tally.line(attribution)).isGreaterThanOrEqualTo(HOLDS * IMAGES / 100);
                }
            }
        }
    }

    private static List<Attribution> attributions() {
        String chosen = System.getProperty("gramian.explain.attribution", "");
        return chosen.isEmpty() ? List.of(Attribution.values()) : List.of(Attribution.parse(chosen));
    }

    private static Tally tally(ModelFile.Stored stored, Attribution attribution, List<Photograph> photographs) {
        Settings settings = new Settings(Optional.of(LAYER).filter(layer -> !layer.isEmpty()), attribution, 0);
        Explainer explainer = new Explainer(stored.model(), card(stored), settings);
        int held = 0;
        double hottest = 0;
        double others = 0;
        for (Photograph photograph : photographs) {
            HeatMap heat =
                    explainer.explain(photograph.image(), photograph.label()).heat();
            Trial trial = Faithfulness.DEFAULT.of(
                    stored.model(), card(stored), photograph.image(), new Explained(heat, photograph.label()));
            held += trial.holds() ? 1 : 0;
            hottest += (trial.whole() - trial.withoutHottest()) / photographs.size();
            others += (trial.whole() - trial.withoutOther()) / photographs.size();
        }
        return new Tally(held, hottest, others);
    }

    private static ModelCard card(ModelFile.Stored stored) {
        ModelCard own = stored.card();
        return CROPS.isEmpty()
                ? own
                : new ModelCard(
                        own.classes(), own.preprocessing(), CropPlan.parse(CROPS), 1, own.origin(), own.metrics());
    }

    /** Rightly classified ones, in turn of each class. */
    private static List<Photograph> photographs(ModelFile.Stored stored) throws IOException {
        List<String> classes = card(stored).classes();
        List<List<Path>> files = new ArrayList<>();
        for (String name : classes) {
            try (Stream<String> rows = Files.lines(SharedFolder.require("data/fmd-thirds.csv"))) {
                files.add(rows.map(row -> row.split(",", -1))
                        .filter(row -> row[1].equals(name) && row[2].equals(FOLD))
                        .map(row -> SharedFolder.require("data/fmd/" + row[0]))
                        .toList());
            }
        }
        List<Photograph> found = new ArrayList<>();
        for (int i = 0; found.size() < IMAGES; i++) {
            for (int label = 0; label < classes.size() && found.size() < IMAGES; label++) {
                Image image = read(files.get(label).get(i));
                Explanation why = new Explainer(
                                stored.model(),
                                card(stored),
                                new Settings(Optional.empty(), Attribution.GRADIENT_TIMES_FEATURE, 0))
                        .explain(image, label);
                if (why.isAnswer()) {
                    found.add(new Photograph(image, label));
                }
            }
        }
        return found;
    }

    private static Image read(Path file) {
        return ((ReadResult.Readable) new ImageReader(ImageLimits.DEFAULT).read(file)).image();
    }
}
