package org.gramian.image.dataset.protocol;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.basis.Sha256;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/**
 * SHA-256 over sample names, class names and folds: results with the same fingerprint were measured on the same splits of the
 * same list of images. It does not depend on the dataset's location, the order of reading, fold names or file contents.
 *
 * @param hex 64 hexadecimal digits
 * @since 0.1
 */
public record Fingerprint(@JsonValue String hex) {
    private static final int SHOWN = 12;

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public Fingerprint {
        if (!hex.matches("[0-9a-f]{64}")) {
            throw new IllegalArgumentException("expected 64 hexadecimal digits as fingerprint, found '" + hex + "'");
        }
    }

    /** Returns the fingerprint of a dataset and its folds, in their order. */
    public static Fingerprint of(Dataset dataset, List<Fold> folds) {
        MessageDigest digest = Sha256.digest();
        List<Integer> byName = byName(dataset);
        for (int index : byName) {
            Sample sample = dataset.samples().get(index);
            add(digest, sample.name());
            add(digest, dataset.className(sample));
        }
        for (Fold fold : folds) {
            byte[] parts = new byte[byName.size()];
            Arrays.fill(parts, (byte) '-');
            fold.train().forEach(index -> parts[index] = 't');
            fold.validation().forEach(index -> parts[index] = 'v');
            fold.test().forEach(index -> parts[index] = 'e');
            digest.update((byte) '\n');
            byName.forEach(index -> digest.update(parts[index]));
        }
        return new Fingerprint(HexFormat.of().formatHex(digest.digest()));
    }

    /** Returns the first digits, for display. */
    public String brief() {
        return hex.substring(0, SHOWN);
    }

    @Override
    public String toString() {
        return hex;
    }

    /** Returns the indexes of all samples, sorted by name. */
    static List<Integer> byName(Dataset dataset) {
        return IntStream.range(0, dataset.samples().size())
                .boxed()
                .sorted(Comparator.comparing(
                        index -> dataset.samples().get(index).name()))
                .toList();
    }

    /** Adds the length first, so that different lists of texts never give the same bytes. */
    private static void add(MessageDigest digest, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).flip());
        digest.update(bytes);
    }
}
