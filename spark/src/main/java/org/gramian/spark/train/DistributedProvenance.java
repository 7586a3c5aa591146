package org.gramian.spark.train;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.run.InitialModel;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Settings;
import org.gramian.train.feature.FrozenBackbone;

/**
 * What a model trained on a cluster comes from, as its file says it: images, settings, network and program. Two runs with the same
 * origin take the same steps.
 *
 * @param entries by their names
 */
record DistributedProvenance(SequencedMap<String, String> entries) {
    private static final String PICTURES = "pictures";

    /**
     * Images that took part.
     *
     * @param training learned from
     * @param heldBack number of validation images
     */
    record Counted(long training, long heldBack) {
        private static final Pattern TEXT = Pattern.compile("(\\d{1,18}) training, (\\d{1,18}) validation");

        private String text() {
            return training + " training, " + heldBack + " validation";
        }
    }

    static DistributedProvenance of(ImageCatalog catalogue, Counted images, Settings settings, FrozenBackbone network) {
        return of(catalogue, images.text(), settings, network);
    }

    private static DistributedProvenance of(
            ImageCatalog catalogue, String images, Settings settings, FrozenBackbone network) {
        SequencedMap<String, String> origin = new LinkedHashMap<>();
        origin.put("fingerprint", Sha256.hex(Sha256.of(catalogue.fingerprint().getBytes(StandardCharsets.UTF_8))));
        origin.put("seed", Long.toString(settings.get(Keys.SEED)));
        origin.put(PICTURES, images);
        origin.putAll(InitialModel.origin(settings, network));
        // A table has neither: what stands there was never looked at.
        origin.keySet().removeAll(List.of("config.data.layout", "config.data.protocol"));
        return new DistributedProvenance(origin);
    }

    /** Tells it from others. */
    String identity() {
        return Sha256.hex(Sha256.of(entries.toString().getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * The images that took part in a finished model, whose origin is to be that of these images and settings.
     *
     * @param found provenance in the model file
     * @throws IOException if it is another one
     */
    static Counted countedOf(
            Map<String, String> found, ImageCatalog catalogue, Settings settings, FrozenBackbone network)
            throws IOException {
        String images = found.getOrDefault(PICTURES, "");
        for (Map.Entry<String, String> entry :
                of(catalogue, images, settings, network).entries.entrySet()) {
            String other = found.getOrDefault(entry.getKey(), "none");
            if (!entry.getValue().equals(other)) {
                throw new IOException("expected a model with " + entry.getKey() + " " + entry.getValue()
                        + ", found one with " + other
                        + "; choose another folder, or resume with the original images and settings");
            }
        }
        Matcher counts = Counted.TEXT.matcher(images);
        if (!counts.matches()) {
            throw new IOException(
                    "expected the number of training images of the model, found " + QuotedText.text(images));
        }
        return new Counted(Long.parseLong(counts.group(1)), Long.parseLong(counts.group(2)));
    }
}
