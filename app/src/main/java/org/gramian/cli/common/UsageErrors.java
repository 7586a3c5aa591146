package org.gramian.cli.common;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.basis.NearestWord;
import org.gramian.run.config.ConfigKey;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParseResult;

/** Messages about wrong command lines: the error, a suggestion, and how to get help. */
public final class UsageErrors {
    /** picocli's message about a wrong value: the name of a parameter or an option, then what is wrong. */
    private static final Pattern WRONG_VALUE = Pattern.compile(
            "Invalid value for (?:positional parameter at index \\S+ \\((.+?)\\)|option '([^']+?)'(?: \\(.*?\\))?): (.*)",
            Pattern.DOTALL);

    /** picocli's messages about a word of a list and about a number. */
    private static final Pattern WRONG_WORD =
            Pattern.compile("expected one of \\[(.*)] \\(case-(?:in)?sensitive\\) but was ('.*')", Pattern.DOTALL);

    private static final Pattern WRONG_NUMBER = Pattern.compile("('.*') is not an? (int|long|double)", Pattern.DOTALL);

    private static final String DATA = "DIR";

    /** Replacements for options of other tools; the first word is an option of the command, or its folder. */
    private static final Map<String, String> OTHER_TOOLS = Map.ofEntries(
            Map.entry("--amp", "--set optimizer.precision=bf16"),
            Map.entry("--half", "--set optimizer.precision=bf16"),
            Map.entry("--precision", "--set optimizer.precision=bf16"),
            Map.entry("--arch", "--backbone NAME"),
            Map.entry("--architecture", "--backbone NAME"),
            Map.entry("--model", "--backbone NAME"),
            Map.entry("--network", "--backbone NAME"),
            Map.entry("--pretrained", "--weights FILE"),
            Map.entry("--data", DATA),
            Map.entry("--data-dir", DATA),
            Map.entry("--data-path", DATA),
            Map.entry("--dataset", DATA),
            Map.entry("--input", DATA),
            Map.entry("--images", DATA),
            Map.entry("--output-dir", "--out"),
            Map.entry("--save-dir", "--out"),
            Map.entry("--project", "--out"),
            Map.entry("--name", "--out"),
            Map.entry("--augmentation", "--augment POLICY"),
            Map.entry("--aug", "--augment POLICY"),
            Map.entry("--auto-augment", "--augment POLICY"),
            Map.entry("--num-workers", "--workers N"),
            Map.entry("--jobs", "--workers N"),
            Map.entry("--lr-scheduler", "--schedule SCHEDULE"),
            Map.entry("--scheduler", "--schedule SCHEDULE"),
            Map.entry("--sched", "--schedule SCHEDULE"),
            Map.entry("--patience", "--schedule plateau:PATIENCE"),
            Map.entry("--opt", "--optimizer NAME"),
            Map.entry("--optim", "--optimizer NAME"),
            Map.entry("--wd", "--weight-decay NUMBER"),
            Map.entry("--freeze", "--fine-tune 0"),
            Map.entry("--frozen", "--fine-tune 0"),
            Map.entry("--fine-tune-epochs", "--fine-tune N"),
            Map.entry("--finetune", "--fine-tune N"),
            Map.entry("--val", "--validation FRACTION"),
            Map.entry("--val-split", "--validation FRACTION"),
            Map.entry("--clip-grad", "--clip NORM"),
            Map.entry("--smoothing", "--label-smoothing FRACTION"),
            Map.entry("--model-ema", "--ema DECAY"),
            Map.entry("--checkpoint", "--resume RUN"),
            Map.entry("--gpu", "--device cuda"),
            Map.entry("--cuda", "--device cuda"),
            Map.entry("--cpu", "--device cpu"),
            Map.entry("--topk", "--top K"),
            Map.entry("--top-k", "--top K"),
            Map.entry("--conf", "--reject P"),
            Map.entry("--threshold", "--reject P"),
            Map.entry("--silent", "--quiet"));

    private UsageErrors() {}

    /** Reports a wrong command line: the error, a suggestion, and how to get help. */
    public static int report(CommandLine.ParameterException wrong, String[] arguments) {
        PrintWriter err = wrong.getCommandLine().getErr();
        String command = wrong.getCommandLine().getCommandSpec().qualifiedName();
        err.println(command + ": " + sentence(wrong));
        Object[] help = (command + " --help").split(" ", -1);
        err.println("try '" + CommandHint.of(Arrays.copyOfRange(help, 1, help.length)) + "'");
        return ExitCode.USAGE;
    }

    /** Returns the message about an unknown option, command or argument, with the most similar one. */
    private static String unknown(CommandLine.UnmatchedArgumentException wrong) {
        String typed = wrong.getUnmatched().getFirst();
        CommandSpec command = wrong.getCommandLine().getCommandSpec();
        if (typed.startsWith("-")) {
            String name = typed.replaceFirst("=.*", "");
            return "unknown option '" + name + "'" + suffix(hint(name, command));
        }
        return command.subcommands().isEmpty()
                ? "unexpected argument '" + typed + "'"
                : "unknown command '" + typed + "'"
                        + suffix(NearestWord.of(typed, command.subcommands().keySet())
                                .map(name -> "did you mean '" + name + "'?"));
    }

    private static String suffix(Optional<String> hint) {
        return hint.map(text -> "; " + text).orElse("");
    }

    private static String sentence(CommandLine.ParameterException wrong) {
        if (wrong instanceof CommandLine.UnmatchedArgumentException unmatched) {
            return unknown(unmatched);
        }
        if (wrong instanceof CommandLine.OverwrittenOptionException twice
                && twice.getOverwritten() instanceof OptionSpec option) {
            return repeated(option);
        }
        String message = Objects.toString(wrong.getMessage());
        Matcher value = WRONG_VALUE.matcher(message);
        if (value.matches()) {
            return Objects.requireNonNullElse(value.group(1), value.group(2)) + ": " + expected(value.group(3));
        }
        return message.isEmpty() ? message : message.substring(0, 1).toLowerCase(Locale.ROOT) + message.substring(1);
    }

    /** Rewrites picocli's message about a value as what was expected and what was found. */
    private static String expected(String problem) {
        Matcher word = WRONG_WORD.matcher(problem);
        if (word.matches()) {
            return "expected "
                    + word.group(1).toLowerCase(Locale.ROOT).replace('_', '-').replaceFirst(", ([^,]*)$", " or $1")
                    + ", found " + word.group(2);
        }
        Matcher number = WRONG_NUMBER.matcher(problem);
        return number.matches()
                ? "expected a " + (number.group(2).equals("double") ? "" : "whole ") + "number, found "
                        + number.group(1)
                : problem;
    }

    /**
     * Rejects a single-valued option that is given twice, in the given commands, outermost first.
     *
     * <p>picocli does so for options outside groups. For an option in a group it starts a second group and drops every other
     * option of the first: {@code --epochs 9 --fine-tune 0 --epochs 1} would fine-tune.
     */
    static void refuseRepeated(ParseResult parsed) {
        Set<OptionSpec> seen = new HashSet<>();
        for (OptionSpec option : parsed.matchedOptions()) {
            if (!option.isMultiValue() && !seen.add(option)) {
                throw new OverwrittenOptionException(parsed.commandSpec().commandLine(), option, repeated(option));
            }
        }
        if (parsed.hasSubcommand()) {
            refuseRepeated(parsed.subcommand());
        }
    }

    /** Returns the message about a repeated option, with all its names. */
    private static String repeated(OptionSpec option) {
        return "expected " + String.join(" or ", option.names()) + " once, found it several times; remove all but one";
    }

    /**
     * Returns what to type in place of an unknown option.
     *
     * <p>Options of other tools come first (timm, torchvision's references, ultralytics), then keys that only {@code --set}
     * reaches, then an option that begins with it, then the nearest spelling: by letters alone, {@code --model} would be
     * {@code --mode} or {@code --layout}.
     */
    private static Optional<String> hint(String typed, CommandSpec command) {
        return otherTool(typed, command)
                .or(() -> key(typed, command))
                .or(() -> completion(typed, command))
                .or(() -> NearestWord.of(typed, command.optionsMap().keySet()))
                .map(name -> "did you mean '" + name + "'?");
    }

    private static Optional<String> otherTool(String typed, CommandSpec command) {
        return Optional.ofNullable(OTHER_TOOLS.get(typed.replace('_', '-')))
                .filter(words -> words.equals(DATA)
                        ? command.positionalParameters().stream()
                                .anyMatch(one -> one.paramLabel().contains(DATA))
                        : command.optionsMap().containsKey(words.split(" ", -1)[0]))
                .map(words -> words.equals(DATA) ? command.qualifiedName() + " " + DATA : words);
    }

    /** Returns the shortest option that begins with it, e.g. {@code --pooling} for {@code --pool}. */
    private static Optional<String> completion(String typed, CommandSpec command) {
        return command.optionsMap().keySet().stream()
                .filter(name -> typed.startsWith("--") && typed.length() > 2 && name.startsWith(typed))
                .min(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder()));
    }

    /** Returns a key whose last part is the option's name, e.g. {@code optimizer.momentum}. */
    private static Optional<String> key(String typed, CommandSpec command) {
        String suffix = "." + typed.replaceFirst("^--?", "").replace('_', '-');
        return ConfigKey.names().stream()
                .filter(name -> command.optionsMap().containsKey("--set") && name.endsWith(suffix))
                .findFirst()
                .map(name -> "--set " + name + "=" + ConfigKey.of(name).values());
    }
}
