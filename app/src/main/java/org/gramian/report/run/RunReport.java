package org.gramian.report.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.gramian.report.ReportFile;
import org.gramian.report.run.data.RunData;
import org.gramian.report.run.data.RunReader;

/**
 * Report of one run or several as a self-contained HTML file.
 *
 * <pre>{@code
 * RunReport.write(List.of(Path.of("runs/average"), Path.of("runs/spd")), Path.of("report.html"), "0.1.0");
 * }</pre>
 */
public final class RunReport {
    /** Name of the report in a run folder. */
    public static final String FILE = "report.html";

    private RunReport() {}

    /**
     * Reads runs and writes their report atomically; several runs are compared first.
     *
     * @param runs run folders or evaluation files; 1 to {@value ReportPage#MOST_RUNS}
     * @param out file to write; an older one is replaced
     * @param version of the program, for the footer
     * @throws IOException if a run has no evaluation, or the file cannot be written
     * @throws IllegalArgumentException if there are too many runs, or {@code out} cannot be a file
     */
    public static void write(List<Path> runs, Path out, String version) throws IOException {
        ReportFile file = ReportFile.of(out);
        List<RunData> loaded = new ArrayList<>();
        for (Path run : runs) {
            loaded.add(RunReader.read(run));
        }
        file.write(html(loaded, version));
    }

    /** Renders the page of runs. */
    public static String html(List<RunData> runs, String version) {
        return ReportPage.of(runs, version).html();
    }
}
