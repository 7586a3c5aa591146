package org.gramian.image.audit.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.gramian.image.Image;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.AuditReport.DuplicateGroup;
import org.gramian.image.audit.AuditReport.Finding;
import org.gramian.image.audit.finding.Auditor.DuplicateSearch;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class DuplicateSearchTest {
    private static final int FRAMES = Boolean.getBoolean("gramian.full") ? 20_000 : 2_000;

    /** Different images that look the same: their corner counts them. */
    private static List<ImageFacts> frames() {
        Image scene = SyntheticDataset.texture(new SplittableRandom(5), 18, 16);
        List<ImageFacts> facts = new ArrayList<>();
        for (int i = 0; i < FRAMES; i++) {
            byte[] rgb = scene.rgb().clone();
            for (int digit = 0; digit < 15; digit++) {
                rgb[digit] = (byte) (128 + (i >> digit & 1));
            }
            Image frame = new Image(18, 16, rgb);
            facts.add(ImageFacts.of(i, new ReadResult.Readable(frame, SyntheticDataset.plain(frame))));
        }
        return facts;
    }

    @Test
    @Timeout(30) // each with each, by sketch, would take minutes
    void similarFramesFormOneGroup() {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < FRAMES; i++) {
            String name = "a/" + (100_000 + i) + ".jpg";
            samples.add(new Sample(name, 0, Path.of(name)));
        }
        Auditor.Input subject = new Auditor.Input(new Dataset(Path.of("made up"), List.of("a", "b"), samples));
        List<DuplicateGroup> groups = new DuplicateSearch(subject, frames()).find();
        assertThat(groups)
                .singleElement()
                .satisfies(group -> assertThat(group.images()).hasSize(FRAMES));
        Finding finding = DatasetFindings.ofDuplicates(groups, false).getFirst();
        assertThat(finding.items().getFirst().images()).hasSize(FRAMES);
        assertThat(finding.items().getFirst().text())
                .startsWith("a/100000.jpg ~ a/100001.jpg ~ ")
                .has(facts("a/100005.jpg", String.format(Locale.ROOT, "%,d", FRAMES - 6)));
    }

    @RandomTest
    void findsAllPairsOfNearHashes(Seed seed) {
        SplittableRandom random = seed.random();
        long[] hashes = random.longs(200).toArray();
        for (int i = 50; i < hashes.length; i++) {
            hashes[i] = hashes[random.nextInt(i)];
            for (int flips = random.nextInt(11); flips > 0; flips--) {
                hashes[i] ^= 1L << random.nextInt(64);
            }
        }
        int distance = random.nextInt(8);
        TreeSet<String> wanted = new TreeSet<>();
        for (int j = 0; j < hashes.length; j++) {
            for (int i = 0; i < j; i++) {
                if (Long.bitCount(hashes[i] ^ hashes[j]) <= distance) {
                    wanted.add(i + " " + j);
                }
            }
        }
        TreeSet<String> found = new TreeSet<>();
        new DuplicateSearch.NearHashes(hashes, distance)
                .forEach((i, j) ->
                        assertThat(found.add(i + " " + j)).as("found once").isTrue());
        assertThat(found).isEqualTo(wanted);
    }

    @Test
    void missingFileCountsAsDifferent(@TempDir Path folder) throws Exception {
        Image twice = SyntheticDataset.texture(new SplittableRandom(5), 90, 80);
        SyntheticDataset set =
                new SyntheticDataset(folder, "a", "b").add("a/1.jpg", twice).add("a/2.jpg", twice);
        Files.delete(set.dataset().samples().getFirst().file());
        assertThat(set.audit().duplicates())
                .extracting(DuplicateGroup::kind)
                .containsExactly(DuplicateGroup.Kind.SAME_PIXELS);
    }
}
