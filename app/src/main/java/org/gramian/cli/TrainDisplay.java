package org.gramian.cli;

import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.Severity;
import org.gramian.image.audit.UnreadablePicture;
import org.gramian.run.RunEvent;
import org.gramian.run.plan.Estimate;
import org.gramian.train.loop.PoolingRace;
import org.gramian.train.loop.TrainEvent;
import org.gramian.train.loop.TrainEvent.Collecting;
import org.gramian.train.loop.TrainEvent.EpochDone;
import org.gramian.train.loop.TrainEvent.PoolingCompared;
import org.gramian.train.loop.TrainEvent.RateFound;
import org.gramian.train.loop.TrainEvent.RefitSkipped;
import org.gramian.train.loop.TrainEvent.Refitted;
import org.gramian.train.loop.TrainEvent.Solved;
import org.gramian.train.loop.TrainEvent.Solving;
import org.gramian.train.loop.TrainEvent.StageDone;
import org.gramian.train.loop.TrainEvent.StageExtended;
import org.gramian.train.loop.TrainEvent.StageStarted;
import org.gramian.train.loop.TrainEvent.Stepped;
import org.gramian.train.recipe.Improvement;
import org.jspecify.annotations.Nullable;

/** Shows a run as it goes: what is being done, how far it is, and how good it is by now. */
final class TrainDisplay implements Consumer<RunEvent>, AutoCloseable {
    private static final int FILES_SHOWN = 10;

    private final Console console;
    private RemainingTime remaining =
            new RemainingTime(new Estimate(Duration.ZERO, Duration.ZERO, Duration.ZERO), 1, InstantSource.system());
    private @Nullable Progress progress;
    private String task = "";
    private String row = "";
    private String fold = "";
    private @Nullable StageStarted stage;
    private final Set<String> announced = new HashSet<>();
    private boolean atWork;
    /** Whether the classifier of the present fold was solved for, without stages. */
    private boolean solved;

    private boolean trained;

    TrainDisplay(Console console) {
        this.console = console;
    }

    /** Begins with a guess of how long everything takes. */
    void expect(Estimate estimate, int folds) {
        remaining = new RemainingTime(estimate, folds, InstantSource.system());
    }

    /**
     * Begins with a row of a table, which is named in all that follows.
     *
     * @param name as {@code row 2/5 bcnn, }
     * @param behind what the rows after it may take, which counts as left
     */
    synchronized void row(String name, Estimate estimate, int folds, Duration behind) {
        expect(estimate, folds);
        remaining.before(behind);
        row = name;
        fold = name;
        announced.clear();
    }

    /** Whether anything was done for a fold. */
    synchronized boolean trained() {
        return trained;
    }

    @Override
    public synchronized void accept(RunEvent event) {
        switch (event) {
            case RunEvent.Auditing auditing -> show("looking at images", auditing.all(), auditing.done());
            case RunEvent.Audited audited -> say(audited.report());
            case RunEvent.Remark remark -> say(remark.text());
            case RunEvent.FoldStarted started -> {
                fold = row + (started.of() == 1 ? "" : "fold " + started.number() + "/" + started.of() + ", ");
                atWork = false;
                solved = false;
                remaining.foldStarted(started.number(), started.of());
                say("%s'%s': %d training, %d validation and %d test images"
                        .formatted(
                                fold,
                                started.fold().name(),
                                started.fold().parts().training().size(),
                                started.fold().parts().heldBack().size(),
                                started.fold().parts().test().size()));
            }
            case RunEvent.Training training -> {
                atWork = true;
                trained = true;
                show(training.event());
            }
            case RunEvent.PoolingChosen chosen -> say(chosen.result());
            case RunEvent.Measured measured ->
                say("%s%s%s %% of the test images are right"
                        .formatted(
                                fold,
                                solved ? "" : "after stage " + measured.stage() + ": ",
                                measured.evaluation().accuracy().text()));
            case RunEvent.FoldDone over -> {
                done();
                if (!atWork) {
                    say("%sdone already: %s %% of the test images are right"
                            .formatted(
                                    fold, over.result().evaluation().accuracy().text()));
                }
            }
        }
    }

    private void say(AuditReport report) {
        done();
        report.findings().stream()
                .filter(finding -> finding.severity() != Severity.NOTE)
                .forEach(finding -> console.say(
                        (finding.severity() == Severity.SPOILS ? "error: " : "warning: ") + finding.sentence()));
        List<UnreadablePicture> unreadable = report.unreadable();
        unreadable.stream()
                .limit(FILES_SHOWN)
                .forEach(one -> console.say(one.picture().name() + " is left out: " + one.reason()));
        if (unreadable.size() > FILES_SHOWN) {
            console.say("and " + (unreadable.size() - FILES_SHOWN) + " more are left out; all of them: "
                    + CommandHint.of("audit", report.root()));
        }
    }

    /** What a race of poolings chose. */
    private void say(PoolingRace.Result race) {
        done();
        PoolingRace.Entry best = race.best();
        console.say("%spooling: %s, the best of %d (leave-one-out accuracy on %d training images): %s"
                .formatted(fold, best.name(), race.entries().size(), race.images(), best.pooling()));
    }

    private void show(TrainEvent event) {
        switch (event) {
            case Collecting collecting -> show(collecting);
            case Solving solving -> show(fold + solving.task(), solving.all(), solving.done());
            case PoolingCompared compared -> {
                PoolingRace.Entry entry = compared.entry();
                say("%s%.1f %% with %s, %,d numbers"
                        .formatted(fold, 100 * entry.accuracy(), entry.name(), entry.size()));
            }
            case Solved found -> {
                solved = true;
                say(fold + "the classifier is solved for: " + found.text());
            }
            case RateFound found -> {
                say(fold + found.text());
                if (stage != null) {
                    remaining.stageStarted(stage); // the time of the range test is not that of steps
                }
            }
            case Refitted refit -> say(fold + "classifier solved again on the trained descriptors: " + refit.text());
            case RefitSkipped skipped ->
                say(fold + "the classifier is not solved again on the trained descriptors: " + skipped.reason());
            case StageStarted started -> {
                stage = started;
                remaining.stageStarted(started);
            }
            case Stepped stepped -> show(stepped);
            case EpochDone done -> show(done);
            case StageExtended extended -> extend(extended);
            case StageDone done ->
                say("%sstage %d is over after %d epochs: %s; the parameters of %s are kept"
                        .formatted(
                                fold,
                                done.stage(),
                                done.epochs(),
                                done.reason(),
                                done.kept() < 0 ? "its beginning" : "epoch " + (done.kept() + 1)));
        }
    }

    private void extend(StageExtended extended) {
        StageStarted present = stage;
        if (present == null) {
            return;
        }
        stage = new StageStarted(extended.stage(), extended.epochs(), present.steps(), present.crops());
        remaining.stageExtended(stage);
        say(String.format(
                Locale.ROOT,
                "%sstage %d goes on to epoch %d: the loss still fell, by %.1f %% in the last %d epochs",
                fold,
                extended.stage(),
                extended.epochs(),
                100 * extended.improvement().share(),
                Improvement.EPOCHS));
    }

    private void show(Stepped stepped) {
        StageStarted present = stage;
        if (present == null) {
            return;
        }
        remaining.stepped(stepped);
        String name = fold + "stage " + stepped.stage();
        long steps = (long) stepped.epoch() * present.steps() + stepped.step();
        show(name, (long) present.epochs() * present.steps(), steps);
        if (progress != null) {
            progress.remark(new CourseText(present, remaining).remark(stepped));
        }
    }

    private void show(EpochDone done) {
        remaining.epochDone();
        if (stage != null) {
            say(fold + new CourseText(stage, remaining).line(done));
        }
    }

    /** A log says what is being done at once; on a terminal there is a bar. */
    private void show(Collecting collecting) {
        String wanted = fold + collecting.task();
        if (announced.add(wanted) && !Terminal.isStandardError()) {
            say(wanted + ": " + collecting.all() + " images");
        }
        show(wanted, collecting.all(), collecting.done());
    }

    private void show(String wanted, long all, long done) {
        if (progress == null || !task.equals(wanted)) {
            done();
            task = wanted;
            progress = console.progress(wanted, all);
        }
        progress.accept(done);
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
