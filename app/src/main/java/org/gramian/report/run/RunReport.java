package org.gramian.report.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.gramian.report.ReportFile;
import org.gramian.report.run.material.RunMaterial;
import org.gramian.report.run.material.RunReader;

/**
 * The report of a run, or of several side by side, as one HTML file that needs nothing else.
 *
 * <pre>{@code
 * RunReport.write(List.of(Path.of("runs/average"), Path.of("runs/spd")), Path.of("report.html"), "0.1.0");
 * }</pre>
 */
public final class RunReport {
    /** Its name in the folder of a run. */
    public static final String FILE = "report.html";

    private RunReport() {}

    /**
     * Reads runs and writes their report, whole or not at all; of several, with a comparison before them.
     *
     * @param runs folders of runs, or files of evaluations; 1 to {@value ReportPage#MOST_RUNS}
     * @param out where to write; an older file is replaced
     * @param version of the program, for the page's foot
     * @throws IOException if a run has no evaluation, or the file cannot be written
     * @throws IllegalArgumentException if there are too many runs, or {@code out} cannot be a file
     */
    public static void write(List<Path> runs, Path out, String version) throws IOException {
        ReportFile file = ReportFile.of(out);
        List<RunMaterial> materials = new ArrayList<>();
        for (Path run : runs) {
            materials.add(RunReader.read(run));
        }
        file.write(html(materials, version));
    }

    /** The page of what was read, or made otherwise. */
    public static String html(List<RunMaterial> runs, String version) {
        return ReportPage.of(runs, version).html();
    }
}
