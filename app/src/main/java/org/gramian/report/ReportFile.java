package org.gramian.report;

import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.StringOutput;
import java.io.IOException;
import java.nio.file.Path;
import org.gramian.basis.AtomicFile;

/** Text file that is written atomically and replaces an older one. */
public record ReportFile(Path path) {
    public static String render(String template, Object page) {
        StringOutput out = new StringOutput();
        TemplateEngine.createPrecompiled(null, ContentType.Html, null, "org.gramian.report.page")
                .render(template, page, out);
        return out.toString();
    }

    public void write(String text) throws IOException {
        AtomicFile.putText(path, file -> file.write(text));
    }
}
