package org.gramian.report;

import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.Severity;

/** Verdict of an audit in one sentence, for the terminal and the page. */
public final class AuditVerdict {
    private AuditVerdict() {}

    /** Returns for example {@code 2 errors and 1 warning: fix the errors before training.} */
    public static String of(AuditReport report) {
        int spoils = report.count(Severity.SPOILS);
        int warnings = report.count(Severity.WARN);
        if (spoils > 0) {
            String more = warnings == 0 ? "" : " and " + count(warnings, "warning");
            return count(spoils, "error") + more + ": fix the errors before training.";
        }
        return warnings > 0 ? "No errors, " + count(warnings, "warning") + "." : "No errors or warnings.";
    }

    private static String count(int count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }
}
