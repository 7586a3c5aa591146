package org.gramian.image.audit.finding;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.AuditReport.AuditedImage;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.testing.SharedFolder;
import org.junit.jupiter.api.Test;

/** Near copies among photographs of textures, which resemble each other more than most. */
class PhotographsTest {
    private final ImageReader reader = new ImageReader(ImageLimits.DEFAULT);

    private static Dataset some(Dataset all, List<String> classes) {
        return new Dataset(
                all.root(),
                all.classes(),
                all.samples().stream()
                        .filter(sample -> classes.contains(all.className(sample)))
                        .toList());
    }

    @Test
    void findsOnlyPairsThatLookTheSame() throws IOException, InterruptedException {
        Dataset dtd = Layouts.open(SharedFolder.require("data/dtd10"));
        Dataset alike = some(dtd, List.of("chequered", "crosshatched"));
        AuditReport report = new Auditor(reader::read, 2).of(alike, _ -> {});
        assertThat(report.duplicates())
                .extracting(group ->
                        group.images().stream().map(AuditedImage::name).toList().toString())
                .containsExactly(
                        "[chequered/chequered_0044.jpg, chequered/chequered_0184.jpg]",
                        "[chequered/chequered_0092.jpg, chequered/chequered_0109.jpg]",
                        "[chequered/chequered_0103.jpg, chequered/chequered_0178.jpg]",
                        "[crosshatched/crosshatched_0069.jpg, crosshatched/crosshatched_0131.jpg]",
                        "[crosshatched/crosshatched_0092.jpg, crosshatched/crosshatched_0093.jpg]",
                        "[crosshatched/crosshatched_0095.jpg, crosshatched/crosshatched_0140.jpg]");
    }
}
