package org.gramian.cli.train;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.EpochText;
import org.gramian.cli.common.Progress;
import org.gramian.report.Figures;
import org.gramian.train.event.TrainEvent;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/**
 * Shows a training run: one updating bar per stage on a terminal, lines of some epochs in a log, one JSON object per event with
 * {@code --log-format json}.
 */
final class TrainDisplay implements Consumer<TrainEvent>, AutoCloseable {
    private static final JsonMapper EVENTS = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build();
    private static final int FILES_SHOWN = 10;
    private static final int FIRST_EPOCHS = 3;

    private final Console console;
    private @Nullable Progress progress;
    private String task = "";
    private String row = "";
    private String fold = "";
    private @Nullable EpochText epochs;
    private final Instant start = Instant.now();
    private Instant epochShown = start;
    private int epochsShown;
    private Optional<TrainEvent.EpochDone> lastEpoch = Optional.empty();
    private Optional<TrainEvent.EpochDone> bestEpoch = Optional.empty();
    private Optional<TrainEvent.HeadCandidate> leader = Optional.empty();
    /** Whether a fold is under way and did any work, how many folds did, since when. */
    private boolean inFold;

    private boolean atWork;

    private int foldsTrained;
    private long foldStart;
    private long foldNanos;

    TrainDisplay(Console console) {
        this.console = console;
    }

    synchronized void row(String name) {
        row = name;
        fold = name;
        foldsTrained = 0; // the folds of another method take another time
        foldNanos = 0;
    }

    @Override
    public synchronized void accept(TrainEvent event) {
        track(event);
        switch (event) {
            case TrainEvent.Task(String name, long done, long total) ->
                show((inFold && !console.isJson() ? fold : "") + name, total, done);
            case TrainEvent.Warning(String text) -> say(text);
            case TrainEvent.Audited audited -> show(audited);
            case TrainEvent.RefitSkipped skipped -> detail("classifier not refit: " + skipped.reason());
            default -> {
                if (console.isJson()) {
                    write(event);
                } else {
                    show(event);
                }
            }
        }
        if (event instanceof TrainEvent.FoldDone) {
            inFold = false;
            if (atWork) {
                foldsTrained++;
                foldNanos += System.nanoTime() - foldStart;
            }
        }
    }

    /** Writes an event with its own fields for {@code --log-format json}. */
    private void write(TrainEvent event) {
        if (event instanceof TrainEvent.Stepped) {
            return;
        }
        Map<String, Object> values = new LinkedHashMap<>();
        if (!fold.isEmpty()) {
            values.put("run", fold.replaceFirst(", $", ""));
        }
        values.putAll(EVENTS.convertValue(event, new TypeReference<Map<String, Object>>() {}));
        if (event instanceof TrainEvent.EpochDone && epochs != null) {
            epochs.imagesPerSecond().ifPresent(speed -> values.put("images_per_second", speed));
            epochs.eta().ifPresent(eta -> values.put("eta_seconds", eta.toMillis() / 1e3));
        }
        String name = event.getClass().getSimpleName();
        console.event(name.replaceAll("(?<!^)([A-Z])", "_$1").toLowerCase(Locale.ROOT), values);
    }

    /** Keeps the state that both forms of output need. */
    private void track(TrainEvent event) {
        switch (event) {
            case TrainEvent.FoldStarted started -> {
                fold = row + (started.folds() == 1 ? "" : "fold " + started.number() + "/" + started.folds() + ", ");
                leader = Optional.empty();
                inFold = true;
                atWork = false;
                foldStart = System.nanoTime();
            }
            case TrainEvent.StageStarted started -> {
                lastEpoch = Optional.empty();
                bestEpoch = Optional.empty();
                epochs = new EpochText(started, InstantSource.system());
            }
            case TrainEvent.EpochsLimited limited -> {
                if (epochs != null) {
                    epochs.limit(limited);
                }
            }
            case TrainEvent.Stepped stepped -> {
                if (epochs != null) {
                    epochs.stepped(stepped);
                }
            }
            case TrainEvent.EpochDone done -> {
                if (epochs != null) {
                    epochs.epochDone();
                }
                lastEpoch = Optional.of(done);
                bestEpoch = done.best() ? lastEpoch : bestEpoch;
            }
            default -> {}
        }
        // a finished fold sends nothing else
        atWork |= inFold
                && !(event instanceof TrainEvent.FoldStarted
                        || event instanceof TrainEvent.FoldDone
                        || event instanceof TrainEvent.HeadChosen
                        || event instanceof TrainEvent.Warning);
    }

    private void show(TrainEvent event) {
        switch (event) {
            case TrainEvent.FoldStarted started ->
                say(fold + "split '" + started.name() + "': " + started.training() + " train, " + started.validation()
                        + " validation" + (started.validation() == 0 ? "" : " (" + started.validationSource() + ")")
                        + ", " + started.test() + " test images" + remaining(started));
            case TrainEvent.FirstModel first ->
                say(fold + "first model, average pooling of " + first.images() + " training images: "
                        + testAccuracy(first.test()) + "; written to " + first.model());
            case TrainEvent.HeadCandidate candidate -> show(candidate);
            case TrainEvent.HeadChosen chosen -> show(chosen);
            case TrainEvent.HeadLearned learned ->
                detail("learned head: %s, %.0f %% of the time of all heads"
                        .formatted(
                                EpochText.time(Duration.ofMillis((long) (1e3 * learned.seconds()))),
                                100 * learned.share()));
            case TrainEvent.Solved found -> detail("classifier " + solution(found));
            case TrainEvent.Refitted refit -> detail(refit(refit));
            case TrainEvent.StageStarted started ->
                detail("%s: at most %d epochs of %d crops"
                        .formatted(name(started.stage()), started.epochs(), started.crops()));
            case TrainEvent.EpochsLimited limited ->
                detail(name(limited.stage()) + ": at most " + limited.epochs()
                        + " epochs fit into the time of comparing and solving heads");
            case TrainEvent.Stepped stepped -> show(stepped);
            case TrainEvent.EpochDone done -> show(done);
            case TrainEvent.StageDone done -> detail(name(done.stage()) + ": " + ending(done));
            case TrainEvent.Evaluated evaluated ->
                say(fold
                        + testAccuracy(evaluated.test())
                        + (evaluated.stage() == 1 ? ", frozen backbone" : ", fine-tuned"));
            case TrainEvent.FoldDone over -> {
                done();
                if (!atWork) {
                    say(fold + "finished before; " + testAccuracy(over.test()));
                }
            }
            default -> {}
        }
    }

    /** The remaining time of all folds, measured on those trained so far. */
    private String remaining(TrainEvent.FoldStarted started) {
        return foldsTrained == 0
                ? ""
                : "; eta "
                        + EpochText.time(
                                Duration.ofNanos(foldNanos / foldsTrained * (started.folds() - started.number() + 1)));
    }

    /** Returns the accuracy with its confidence interval, as {@code test accuracy 69.2 % (95 % CI 63.1–74.7)}. */
    private static String testAccuracy(TrainEvent.TestAccuracy test) {
        return "test accuracy " + Figures.percent(test.value()) + " % (95 % CI " + Figures.percent(test.low()) + "–"
                + Figures.percent(test.high()) + ")";
    }

    private void show(TrainEvent.Audited audited) {
        done();
        audited.findings().forEach(finding -> console.warn(finding.severity() + ": " + finding.text()));
        List<TrainEvent.Audited.UnreadableImage> unreadable = audited.unreadable();
        unreadable.stream()
                .limit(FILES_SHOWN)
                .forEach(one -> console.warn("skipping " + one.name() + ": " + one.reason()));
        if (unreadable.size() > FILES_SHOWN) {
            console.warn("skipping " + (unreadable.size() - FILES_SHOWN) + " more; list all with: "
                    + CommandHint.of("audit", audited.root()));
        }
    }

    private void show(TrainEvent.HeadChosen chosen) {
        TrainEvent.HeadCandidate best = chosen.best();
        detail("head " + best.name() + ", " + best.classifier() + ": " + Figures.percent(best.accuracy()) + " ± "
                + Figures.percent(best.error()) + " % by cross-validation on " + chosen.images()
                + " training images, chosen from " + chosen.candidates());
        if (best.isFirstOrder()) {
            detail("second order gains nothing here: averages are within one standard error of the best");
        }
        chosen.firstOrder()
                .ifPresent(averages -> detail("second order gains " + Figures.percent(averages.behind()) + " ± "
                        + Figures.percent(averages.behindError()) + " points over " + averages.name()));
    }

    private static String name(int stage) {
        return stage == 1 ? "training head" : "fine-tuning";
    }

    /** As {@code 12 epochs, early stopping; best epoch 9  val_acc 83.3%}. */
    private String ending(TrainEvent.StageDone done) {
        String best = done.kept() < 0
                ? "initial weights kept"
                : "best epoch " + (done.kept() + 1)
                        + bestEpoch
                                .filter(epoch -> epoch.epoch() == done.kept() && epoch.isValidated())
                                .map(epoch -> " (val_acc " + Figures.percent(1 - epoch.validationError()) + "%)")
                                .orElse("");
        return done.epochs() + " epochs, " + done.reason() + "; " + best;
    }

    /** As {@code svm: C 10, cross-validation accuracy 81.2 %}. */
    private static String solution(TrainEvent.Solved found) {
        StringBuilder text = new StringBuilder(found.classifier());
        Double cost = found.values().get("C");
        if (cost != null) {
            text.append(": C ").append(Double.toString(cost).replaceFirst("\\.0$", ""));
        }
        Double accuracy = found.values().get("cv_accuracy");
        if (accuracy != null) {
            text.append(cost == null ? ":" : ",")
                    .append(" cross-validation accuracy ")
                    .append(Figures.percent(accuracy))
                    .append(" %");
        }
        return text.append(
                        found.values().containsKey("temperature") ? "" : ", not calibrated: too few images per class")
                .toString();
    }

    private static String refit(TrainEvent.Refitted refit) {
        String accuracy = refit.solvedAccuracy().isPresent()
                ? "; val_acc " + Figures.percent(refit.solvedAccuracy().getAsDouble()) + "% against "
                        + Figures.percent(refit.trainedAccuracy().orElse(0)) + "% before"
                : "";
        return "classifier refit by " + solution(refit.solution()) + accuracy
                + (refit.kept() ? ", kept" : ", not kept");
    }

    private void show(TrainEvent.HeadCandidate candidate) {
        leader = leader.filter(best -> best.accuracy() >= candidate.accuracy()).or(() -> Optional.of(candidate));
        if (progress != null) {
            TrainEvent.HeadCandidate best = leader.orElseThrow();
            progress.remark(candidate.name() + " " + Figures.percent(candidate.accuracy()) + "%  best: " + best.name()
                    + " " + Figures.percent(best.accuracy()) + "%");
        }
    }

    private void show(TrainEvent.Stepped stepped) {
        if (epochs == null) {
            return;
        }
        show(fold + name(stepped.stage()), epochs.steps(), epochs.done());
        if (progress != null) {
            progress.remark(epochs.beside(stepped, lastEpoch));
        }
    }

    /** A log gets the first epochs and few others; on a terminal, the bar shows the epoch. */
    private void show(TrainEvent.EpochDone done) {
        if (epochs == null || console.hasBars()) {
            return;
        }
        Instant now = Instant.now();
        if (epochsShown < FIRST_EPOCHS || Progress.Lines.isDue(start, epochShown, now)) {
            epochsShown++;
            epochShown = now;
            console.line(fold + epochs.line(done));
        }
    }

    private void show(String wanted, long all, long done) {
        if (progress == null || !task.equals(wanted)) {
            done();
            task = wanted;
            progress = console.progress(wanted, all);
        }
        progress.accept(done);
    }

    /** Says what would be too much for every fold of every row of a table. */
    private void detail(String sentence) {
        if (row.isEmpty()) {
            say(fold + sentence);
        }
    }

    private void say(String sentence) {
        done();
        console.say(sentence);
    }

    private void done() {
        if (progress != null) {
            progress.close();
            progress = null;
        }
    }

    @Override
    public synchronized void close() {
        done();
    }
}
