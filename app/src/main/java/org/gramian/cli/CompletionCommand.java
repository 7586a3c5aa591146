package org.gramian.cli;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gramian completion SHELL}: prints a script that completes commands and options on Tab. */
@Command(
        name = "completion",
        mixinStandardHelpOptions = true,
        header = "Print a completion script for bash, zsh or fish.",
        description = {
            "bash: gramian completion bash > ~/.local/share/bash-completion/completions/gramian",
            "zsh:  gramian completion zsh > ~/.gramian-completion; add 'source ~/.gramian-completion' to ~/.zshrc",
            "fish: gramian completion fish > ~/.config/fish/completions/gramian.fish"
        })
final class CompletionCommand implements Runnable {
    /** The shells that completion scripts exist for. */
    enum Shell {
        BASH,
        ZSH,
        FISH
    }

    /** Values of an enum in picocli's script. */
    private static final Pattern WORDS =
            Pattern.compile("(?<=_(?:option|pos_param)_args=\\()(?:\"[A-Z0-9_]+\" ?)+(?=\\))");

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Shell shell;

    @Override
    public void run() {
        CommandLine root = spec.root().commandLine();
        // picocli's script serves zsh as well, through bashcompinit.
        spec.commandLine()
                .getOut()
                .print(
                        switch (shell) {
                            case BASH, ZSH -> bash(root);
                            case FISH -> fish(root);
                        });
        spec.commandLine().getOut().flush();
    }

    /** Returns picocli's script, with the words that options take in lower case, as in the help. */
    static String bash(CommandLine root) {
        return WORDS.matcher(AutoComplete.bash("gramian", root))
                .replaceAll(words -> Matcher.quoteReplacement(words.group().toLowerCase(Locale.ROOT)));
    }

    /** Returns a fish script with every command and option of a command line, and their descriptions. */
    static String fish(CommandLine root) {
        StringBuilder script = new StringBuilder("# fish completion of gramian\n");
        root.getSubcommands().forEach((name, command) -> {
            script.append("complete -c gramian -n __fish_use_subcommand -f -a %s -d %s\n"
                    .formatted(name, quoted(header(command.getCommandSpec()))));
            append(script, "__fish_seen_subcommand_from " + name, command.getCommandSpec());
            command.getSubcommands().forEach((inner, below) -> {
                script.append("complete -c gramian -n %s -f -a %s -d %s\n"
                        .formatted(
                                quoted("__fish_seen_subcommand_from " + name + "; and not __fish_seen_subcommand_from "
                                        + words(command)),
                                inner,
                                quoted(header(below.getCommandSpec()))));
                append(
                        script,
                        "__fish_seen_subcommand_from " + name + "; and __fish_seen_subcommand_from " + inner,
                        below.getCommandSpec());
            });
        });
        return script.toString();
    }

    private static String words(CommandLine command) {
        return String.join(" ", command.getSubcommands().keySet());
    }

    private static void append(StringBuilder script, String condition, CommandSpec command) {
        for (PositionalParamSpec parameter : command.positionalParameters()) {
            values(parameter)
                    .ifPresent(values -> script.append(
                            "complete -c gramian -n %s -f -a %s\n".formatted(quoted(condition), quoted(values))));
        }
        for (OptionSpec option : command.options()) {
            script.append("complete -c gramian -n ").append(quoted(condition));
            for (String name : option.names()) {
                script.append(name.startsWith("--") ? " -l " : " -s ").append(name.replaceFirst("^--?", ""));
            }
            if (option.arity().max() > 0) {
                script.append(" -r");
                values(option).ifPresent(values -> script.append(" -f -a ").append(quoted(values)));
            }
            script.append(" -d ")
                    .append(quoted(String.join(" ", option.description())))
                    .append('\n');
        }
    }

    /** The words that an option or a parameter takes, where they are an enum's. */
    private static Optional<String> values(ArgSpec argument) {
        return Optional.ofNullable(argument.type().getEnumConstants())
                .map(constants -> String.join(
                        " ",
                        Arrays.stream(constants)
                                .map(one -> one.toString().toLowerCase(Locale.ROOT))
                                .toList()));
    }

    private static String header(CommandSpec command) {
        return List.of(command.usageMessage().header()).getFirst();
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
