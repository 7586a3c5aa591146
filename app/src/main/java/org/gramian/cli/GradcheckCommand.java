package org.gramian.cli;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.gramian.check.Outcome;
import org.gramian.check.PoolingCheck;
import org.gramian.tensor.Device;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian gradcheck}: the gradients of a pooling against central differences. */
@Command(
        name = "gradcheck",
        mixinStandardHelpOptions = true,
        header = "The gradients of a pooling against central differences.",
        description = {
            "Compares the gradients of a pooling with central differences in double precision,",
            "on small random features, for 8 to 100 elements of the features and of every parameter."
        })
final class GradcheckCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Option(
            names = "--pooling",
            paramLabel = "SPEC",
            required = true,
            description = "stages joined by '/', or a preset; see below")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String pooling;

    @Override
    public Integer call() {
        Device device = torch.prepare();
        PrintWriter out = console.out();
        PoolingCheck check = PoolingCheck.of(pooling, device);
        boolean passed = true;
        for (Outcome outcome : check.outcomes()) {
            out.printf(
                    Locale.ROOT,
                    "%s  %-24s relative error %.1e (tolerance %.0e)%n",
                    outcome.passed() ? "ok    " : "FAILED",
                    outcome.subject().substring(outcome.subject().lastIndexOf(' ') + 1),
                    outcome.error(),
                    outcome.tolerance());
            passed &= outcome.passed();
        }
        return passed ? Main.DONE : Main.FAILED;
    }
}
