package org.gramian;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import org.gramian.basis.Interrupts;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.finding.Auditor;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.layout.Layouts;

/**
 * Checks a dataset for problems that would harm training: unreadable images, duplicates across classes and splits, near-duplicates,
 * small classes, odd sizes and colours.
 *
 * <pre>{@code
 * AuditReport report = Audit.of(Path.of("photos")); // one sub-folder per class
 * report.findings().forEach(finding -> System.out.println(finding.severity() + " " + finding.sentence()));
 * }</pre>
 *
 * @since 0.1
 */
public final class Audit {
    private Audit() {}

    /**
     * Audits a folder with one sub-folder per class, a CSV file, or a known dataset such as DTD, on all cores.
     *
     * @throws IOException if there are no images
     */
    public static AuditReport of(Path images) throws IOException {
        return of(open(images), Runtime.getRuntime().availableProcessors());
    }

    /**
     * Audits a dataset.
     *
     * @param threads number of threads that decode images, at least 1
     * @throws InterruptedIOException if the thread is interrupted
     */
    public static AuditReport of(Dataset dataset, int threads) throws IOException {
        return Interrupts.asIo(
                "audit", () -> new Auditor(new ImageReader(ImageLimits.DEFAULT)::read, threads).of(dataset, _ -> {}));
    }

    /** Opens also a dataset that cannot be trained on for want of a class: the audit says so. */
    private static Dataset open(Path images) throws IOException {
        try {
            return Layouts.open(images);
        } catch (DatasetException e) {
            return e.dataset().orElseThrow(() -> e);
        }
    }
}
