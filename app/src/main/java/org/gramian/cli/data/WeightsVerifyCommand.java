package org.gramian.cli.data;

import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.WeightsOptions;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.gramian.backbone.weights.WeightName;
import org.gramian.backbone.weights.WeightStore;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code gramian weights verify}: whether installed weights are still what was imported. */
@Command(
        name = "verify",
        mixinStandardHelpOptions = true,
        header = "Check installed weights against their checksum.",
        description = "Reads the whole file. Exit code 4 if it is damaged or was changed.")
final class WeightsVerifyCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Mixin
    private final WeightsOptions weights = new WeightsOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "a name of 'gramian weights list'")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String name;

    @Override
    public Integer call() throws IOException {
        WeightStore store = weights.store();
        WeightName wanted = WeightName.parse(name);
        List<String> problems = store.verify(wanted);
        problems.forEach(console::say);
        console.out().println(store.file(wanted) + (problems.isEmpty() ? ": checksum ok" : ": WRONG CHECKSUM"));
        return problems.isEmpty() ? ExitCode.DONE : ExitCode.MODEL;
    }
}
