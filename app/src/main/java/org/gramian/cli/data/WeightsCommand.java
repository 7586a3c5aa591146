package org.gramian.cli.data;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code gramian weights}: the commands about pretrained weights hang below this one. */
@Command(
        name = "weights",
        mixinStandardHelpOptions = true,
        header = "List, download, import and verify pretrained weights.",
        description = {
            "Weights are stored in one folder, as NAME.safetensors: GRAMIAN_WEIGHTS, or --weights-dir, or 'weights' in the",
            "cache folder. NAME is a backbone, e.g. vgg16, or a variant, e.g. vgg16-keras."
        },
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            WeightsListCommand.class,
            WeightsGetCommand.class,
            WeightsImportCommand.class,
            WeightsVerifyCommand.class
        })
public final class WeightsCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    /** Without a command: the help. */
    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
