package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import org.gramian.basis.AtomicTextFile;
import org.gramian.report.table.TableFormat;
import org.gramian.report.table.TableReport;
import org.gramian.run.ExistingRun;
import org.gramian.run.table.ResultTable;
import org.gramian.run.table.TableRun;

/**
 * The table in every form, in its folder.
 *
 * @param run what it is made of
 * @param folder where it goes
 * @param setting numbers to texts
 */
record TableFiles(TableRun run, Path folder, Function<ResultTable, TableReport> setting) {
    /** @throws IllegalArgumentException if a table cannot go there */
    static Path requireUsable(Path folder) {
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw new IllegalArgumentException("--out " + folder + ": expected a folder, found a file");
        }
        if (new ExistingRun(folder).exists()) {
            throw new IllegalArgumentException("--out " + folder
                    + ": expected the folder of a table or a new folder, found a single run; choose another one");
        }
        return folder;
    }

    /** What is known so far. */
    TableReport report() throws IOException {
        return setting.apply(run.table());
    }

    /** Writes all forms anew. */
    void write() throws IOException {
        Files.createDirectories(folder);
        TableReport report = report();
        for (TableFormat form : TableFormat.values()) {
            String text = form.render(report);
            AtomicTextFile.write(folder.resolve(form.file()), file -> file.write(text));
        }
    }
}
