package org.gramian.train.distill;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The history of a distillation as a CSV file with one row for each epoch. */
public final class DistillHistory {
    private static final String HEADER =
            "epoch,images,learning_rate,loss,feature_loss,gram_loss,logit_loss,seconds,probe_accuracy";

    private DistillHistory() {}

    /**
     * A completed epoch.
     *
     * @param epoch from 1
     * @param images that were seen so far
     * @param learningRate of its last step
     * @param loss mean of the weighted sum
     * @param features mean feature loss, unweighted
     * @param grams mean Gram loss, unweighted
     * @param logits mean logit loss, unweighted
     * @param seconds of training so far
     * @param probe accuracy of the linear probe; null where none was taken
     */
    public record EpochRow(
            @JsonProperty("epoch") int epoch,
            @JsonProperty("images") long images,
            @JsonProperty("learning_rate") double learningRate,
            @JsonProperty("loss") double loss,
            @JsonProperty("feature_loss") double features,
            @JsonProperty("gram_loss") double grams,
            @JsonProperty("logit_loss") double logits,
            @JsonProperty("seconds") double seconds,
            @JsonProperty("probe_accuracy") @Nullable Double probe) {}

    /** Replaces the file, whole or not at all. */
    static void write(Path file, List<EpochRow> rows) throws IOException {
        List<String> lines = new ArrayList<>(List.of(HEADER));
        for (EpochRow row : rows) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%d,%d,%.6g,%.6f,%.6f,%.6f,%.6f,%.1f,%s",
                    row.epoch(),
                    row.images(),
                    row.learningRate(),
                    row.loss(),
                    row.features(),
                    row.grams(),
                    row.logits(),
                    row.seconds(),
                    row.probe() == null ? "" : String.format(Locale.ROOT, "%.4f", row.probe())));
        }
        Path partial = file.resolveSibling(file.getFileName() + ".part");
        Files.write(partial, lines);
        Files.move(partial, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    /**
     * Reads the file.
     *
     * @throws IOException if it cannot be read, or is no such history
     */
    public static List<EpochRow> read(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        if (lines.isEmpty() || !lines.getFirst().equals(HEADER)) {
            throw new IOException(file + ": expected the history of a distillation, found another first line");
        }
        List<EpochRow> rows = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            String[] cells = line.split(",", -1);
            try {
                rows.add(new EpochRow(
                        Integer.parseInt(cells[0]),
                        Long.parseLong(cells[1]),
                        Double.parseDouble(cells[2]),
                        Double.parseDouble(cells[3]),
                        Double.parseDouble(cells[4]),
                        Double.parseDouble(cells[5]),
                        Double.parseDouble(cells[6]),
                        Double.parseDouble(cells[7]),
                        cells[8].isEmpty() ? null : Double.valueOf(cells[8])));
            } catch (NumberFormatException | ArrayIndexOutOfBoundsException damaged) {
                throw new IOException(file + ": expected 9 numbers in each line, found '" + line + "'", damaged);
            }
        }
        return rows;
    }
}
