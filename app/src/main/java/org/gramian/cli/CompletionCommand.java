package org.gramian.cli;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code gramian completion}: prints picocli's script, which completes commands and options on Tab. */
@Command(
        name = "completion",
        mixinStandardHelpOptions = true,
        header = "Print a completion script for bash and zsh.",
        description = {
            "bash: gramian completion > ~/.local/share/bash-completion/completions/gramian",
            "zsh:  gramian completion > ~/.gramian-completion; add 'source ~/.gramian-completion' to ~/.zshrc"
        })
final class CompletionCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine()
                .getOut()
                .print(AutoComplete.bash("gramian", spec.root().commandLine()));
        spec.commandLine().getOut().flush();
    }
}
