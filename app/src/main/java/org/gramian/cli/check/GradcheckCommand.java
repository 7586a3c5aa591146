package org.gramian.cli.check;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.gramian.check.PoolingCheck;
import org.gramian.check.PoolingCheck.GradientComparison;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.TorchOptions;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Device;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian gradcheck}: the gradients of a pooling against central differences. */
@Command(
        name = "gradcheck",
        mixinStandardHelpOptions = true,
        header = "Check the gradients of a pooling against central differences.",
        description = {
            "Compares the gradients of a pooling with central differences in double precision,",
            "on small random features, for 8 to 100 elements of the features and of every parameter.",
            "Formulas of the paper or its authors that are not the derivative must deviate by exactly the documented",
            "amount."
        })
public final class GradcheckCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Option(
            names = "--pooling",
            paramLabel = "SPEC",
            required = true,
            description = "stages joined by '/', or a method; see below")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String pooling;

    @Option(
            names = "--fidelity",
            paramLabel = "WORD",
            defaultValue = "corrected",
            description = {
                "formulas of arguments that SPEC leaves open:",
                "paper (as printed), authors (as in their code) or corrected (default: ${DEFAULT-VALUE})"
            })
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String fidelity;

    @Override
    public Integer call() {
        Pooling parsed = Pooling.parse(pooling, Fidelity.parse(fidelity));
        Device device = torch.prepare();
        PoolingCheck check = PoolingCheck.of(parsed, device);
        PrintWriter out = console.out();
        if (!check.formulas().isEmpty()) {
            out.println(parsed);
            out.println("Formulas that are not the derivative, checked separately:");
            check.formulas().forEach(formula -> {
                out.println("  " + formula.subject());
                out.println("  " + measured(formula, ""));
            });
            out.println("Gradients of the pooling:");
        }
        check.inputs().forEach(input -> out.println(measured(input, input.subject())));
        return check.passed() ? ExitCode.DONE : ExitCode.FAILED;
    }

    /** One line: ok is the derivative, expected what the formulas state instead. */
    private static String measured(GradientComparison comparison, String name) {
        String verdict = !comparison.passed() ? "FAILED  " : comparison.deviates() ? "expected" : "ok      ";
        String stated = !comparison.deviates() && comparison.passed()
                ? ""
                : "; of the stated formula %.1e".formatted(comparison.fromStated());
        return String.format(
                Locale.ROOT,
                "%s  %-24s relative error %.1e%s (tolerance %.0e)",
                verdict,
                name,
                comparison.error(),
                stated,
                comparison.tolerance());
    }
}
