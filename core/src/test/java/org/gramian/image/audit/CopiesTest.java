package org.gramian.image.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.image.Picture;
import org.gramian.image.Reading;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class CopiesTest {
    private static final int FRAMES = 20_000;

    /** Different pictures that look the same: their corner counts them. */
    private static List<Facts> frames() {
        Picture scene = MadeUp.texture(new SplittableRandom(5), 18, 16);
        List<Facts> facts = new ArrayList<>();
        for (int i = 0; i < FRAMES; i++) {
            byte[] rgb = scene.rgb().clone();
            for (int digit = 0; digit < 15; digit++) {
                rgb[digit] = (byte) (128 + (i >> digit & 1));
            }
            Picture frame = new Picture(18, 16, rgb);
            facts.add(Facts.of(i, new Reading.Readable(frame, MadeUp.plain(frame))));
        }
        return facts;
    }

    @Test
    @Timeout(30) // each with each, by sketch, would take minutes
    void twentyThousandFramesOfOneCameraAreOneGroupInSeconds() {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < FRAMES; i++) {
            String name = "a/" + (100_000 + i) + ".jpg";
            samples.add(new Sample(name, 0, Path.of(name)));
        }
        Subject subject = Subject.of(new Dataset(Path.of("made up"), List.of("a", "b"), samples));
        List<DuplicateGroup> groups = new Copies(subject, frames(), AuditOptions.DEFAULT).find();
        assertThat(groups)
                .singleElement()
                .satisfies(group -> assertThat(group.pictures()).hasSize(FRAMES));
        Finding finding = new CopyFindings(groups, false).find().getFirst();
        assertThat(finding.items().getFirst().pictures()).hasSize(FRAMES);
        assertThat(finding.items().getFirst().text())
                .startsWith("a/100000.jpg ~ a/100001.jpg ~ ")
                .has(facts("a/100005.jpg", "19,994"));
    }

    @Test
    void equalPixelsInDifferentFilesAreKeptTogetherLikeEqualFiles(@TempDir Path folder) throws Exception {
        Picture twice = MadeUp.texture(new SplittableRandom(5), 90, 80);
        MadeUp set = new MadeUp(folder, "a", "b").add("a/1.jpg", twice).add("a/2.jpg", twice);
        String ofPixels = advice(set);
        set.holding("a/1.jpg");
        assertThat(advice(set)).isNotBlank().isEqualTo(ofPixels);
    }

    private static String advice(MadeUp set) throws Exception {
        return set.audit().finding(Finding.Kind.COPIES).orElseThrow().advice();
    }

    @Test
    void aFileThatVanishedMeanwhileDoesNotEndTheAudit(@TempDir Path folder) throws Exception {
        Picture twice = MadeUp.texture(new SplittableRandom(5), 90, 80);
        MadeUp set = new MadeUp(folder, "a", "b").add("a/1.jpg", twice).add("a/2.jpg", twice);
        Files.delete(set.dataset().samples().getFirst().file());
        assertThat(set.audit().duplicates())
                .extracting(DuplicateGroup::kind)
                .containsExactly(DuplicateGroup.Kind.SAME_PIXELS);
    }
}
