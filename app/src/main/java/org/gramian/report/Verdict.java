package org.gramian.report;

import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.Severity;

/** An audit's result in one sentence, the same on the terminal and on the page. */
public final class Verdict {
    private Verdict() {}

    /** For example {@code 2 findings would spoil training; 1 more deserves a look.} */
    public static String of(AuditReport report) {
        int spoils = report.count(Severity.SPOILS);
        int warnings = report.count(Severity.WARN);
        if (spoils > 0) {
            String more = warnings == 0
                    ? ""
                    : "; " + warnings + " more " + (warnings == 1 ? "deserves" : "deserve") + " a look";
            return findings(spoils) + " would spoil training" + more + ".";
        }
        if (warnings > 0) {
            return "Nothing would spoil training; " + findings(warnings) + (warnings == 1 ? " deserves" : " deserve")
                    + " a look.";
        }
        return "Nothing would spoil training.";
    }

    private static String findings(int count) {
        return count + (count == 1 ? " finding" : " findings");
    }
}
