import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import de.siegmar.fastcsv.writer.CsvWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.Layouts;

/** Exchanges labels of a dataset at random, and counts those that a review finds; see {@code scripts/review-labels}. */
final class LabelNoise {
    private static final double SHARE = 0.05;

    private LabelNoise() {}

    public static void main(String[] arguments) throws IOException {
        Dataset dataset = Layouts.open(Path.of(arguments[1]));
        if (arguments[0].equals("exchange")) {
            exchange(dataset, Long.parseLong(arguments[2]), Path.of(arguments[3]));
        } else {
            count(dataset, Path.of(arguments[2]));
        }
    }

    /** Exchanges the labels of random pairs of images of different classes, so that all classes keep their sizes. */
    private static void exchange(Dataset dataset, long seed, Path list) throws IOException {
        List<Sample> order = new ArrayList<>(dataset.samples());
        Collections.shuffle(order, Random.from(new SplittableRandom(seed)));
        int pairs = (int) Math.round(SHARE * order.size() / 2);
        try (CsvWriter csv = CsvWriter.builder().build(list)) {
            csv.writeRecord("path", "label");
            for (int i = 0; pairs > 0 && i + 1 < order.size(); i += 2) {
                Sample one = order.get(i);
                Sample other = order.get(i + 1);
                if (one.label() != other.label()) {
                    csv.writeRecord(one.name(), dataset.className(other));
                    csv.writeRecord(other.name(), dataset.className(one));
                    pairs--;
                }
            }
        }
    }

    private static void count(Dataset dataset, Path review) throws IOException {
        Map<String, String> truth = new TreeMap<>();
        dataset.samples().forEach(sample -> truth.put(sample.name(), dataset.className(sample)));
        List<NamedCsvRecord> rows;
        try (CsvReader<NamedCsvRecord> csv = CsvReader.builder().ofNamedCsvRecord(review)) {
            rows = csv.stream().toList();
        }
        HashSet<String> exchanged = new HashSet<>();
        for (NamedCsvRecord row : rows) {
            if (!row.getField("label").equals(truth.get(row.getField("path")))) {
                exchanged.add(row.getField("path"));
            }
        }
        int first = (int) Math.round(SHARE * rows.size());
        int found = 0;
        int right = 0;
        for (NamedCsvRecord row : rows.subList(0, first)) {
            String path = row.getField("path");
            found += exchanged.contains(path) ? 1 : 0;
            right += exchanged.contains(path) && row.getField("suggested").equals(truth.get(path)) ? 1 : 0;
        }
        System.out.printf(
                "%s: %d images, %d exchanged; of the first %d: %d exchanged, precision %.1f %%, recall %.1f %%,"
                        + " suggested label right for %d%n",
                dataset.root().getFileName(),
                rows.size(),
                exchanged.size(),
                first,
                found,
                100.0 * found / first,
                100.0 * found / exchanged.size(),
                right);
    }
}
