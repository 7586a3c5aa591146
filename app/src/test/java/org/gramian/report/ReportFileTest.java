package org.gramian.report;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportFileTest {
    @Test
    void aDeletedFolderIsReported(@TempDir Path folder) throws IOException {
        Path reports = Files.createDirectory(folder.resolve("reports"));
        ReportFile file = ReportFile.of(reports.resolve("audit.json"));
        Files.delete(reports);
        assertThatThrownBy(() -> file.write("text"))
                .isInstanceOf(IOException.class)
                .has(facts(reports.resolve("audit.json"), reports, reports))
                .hasMessageNotContaining("null");
    }
}
