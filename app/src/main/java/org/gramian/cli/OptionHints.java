package org.gramian.cli;

import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import org.gramian.basis.NearestWord;
import org.gramian.run.config.Keys;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Suggests the option that stands for an unknown one.
 *
 * <p>Options of other tools come first (timm, torchvision's references, ultralytics), then keys that only {@code --set} reaches,
 * then an option that begins with it, then the nearest spelling: by letters alone, {@code --model} would be {@code --mode} or {@code --layout}.
 */
final class OptionHints {
    private static final String DATA = "DIR";

    /** The words to type in place of an option of another tool; the first one is an option of the command, or its folder. */
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

    private OptionHints() {}

    /** Returns what to type in place of an unknown option, if there is anything like it. */
    static Optional<String> of(String typed, CommandSpec command) {
        return otherTool(typed, command)
                .or(() -> key(typed, command))
                .or(() -> beginning(typed, command))
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

    /** The shortest option that begins with it, as {@code --pooling} for {@code --pool}. */
    private static Optional<String> beginning(String typed, CommandSpec command) {
        return command.optionsMap().keySet().stream()
                .filter(name -> typed.startsWith("--") && typed.length() > 2 && name.startsWith(typed))
                .min(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder()));
    }

    /** A key whose last part is the option's name, as {@code optimizer.momentum}. */
    private static Optional<String> key(String typed, CommandSpec command) {
        String suffix = "." + typed.replaceFirst("^--?", "").replace('_', '-');
        return Keys.names().stream()
                .filter(name -> command.optionsMap().containsKey("--set") && name.endsWith(suffix))
                .findFirst()
                .map(name -> "--set " + name + "=" + Keys.of(name).form().expected());
    }
}
