package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.gramian.accelerate.Rule;
import org.gramian.cli.common.CacheOptions;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.InputOptions;
import org.gramian.cli.common.Interruption;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.TrainedModel;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.run.Extension;
import org.gramian.run.RunResult;
import org.gramian.run.TrainingRun;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.Device;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian extend}: adds images of new or known classes to a trained model. */
@Command(name = "extend", sortOptions = false, header = "Add classes or images to a trained model.", description = """
                Solves the classifier of a run again on its images and those of another folder, with the same backbone and
                pooling. The features of the run's images come from the cache; only those of new images are computed. The
                result is a new run, equal to training anew on all images. Needs a run with one split whose backbone is
                frozen, its images in place, and its features in the cache.""")
public final class ExtendCommand extends ConsoleCommand {
    @Parameters(index = "0", paramLabel = "RUN", description = "run folder of 'gramian train'")
    private Path run;

    @Parameters(
            index = "1",
            paramLabel = "DIR",
            description = "folder of new images, one subfolder per new or known class, or a CSV file")
    private Path images;

    @Option(
            names = {"--out", "--output"},
            paramLabel = "RUN",
            description = "folder of the new run (default: runs/<date>-<name>)")
    private @Nullable Path out;

    @Option(names = "--layout", paramLabel = "LAYOUT", description = "layout of DIR, e.g. csv (default: detected)")
    private @Nullable String layout;

    @Mixin
    private final ContextOptions training = new ContextOptions();

    @Mixin
    private final InputOptions.WeightsFolder weights = new InputOptions.WeightsFolder();

    @Mixin
    private final CacheOptions caching = new CacheOptions();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Override
    public Integer call() throws IOException, InterruptedException {
        caching.check();
        TrainedModel.requireClassifier(run);
        RunFolder old = RunFolder.of(run);
        caching.resume(old.options());
        RunFolder folder = out == null ? RunFolder.defaultFor(images) : RunFolder.fresh(out);
        Settings settings = old.run().settings();
        settings.find(TrainConfig.ACCELERATE).ifPresent(Rule::use);
        Dataset added = Layouts.openAdded(images, Optional.ofNullable(layout));
        added.notes().forEach(note -> console.say(note.text()));
        Device device = training.prepare(torch);
        Cancellation cancellation = Cancellation.onRequest();
        RunResult result;
        try (TrainDisplay display = new TrainDisplay(console);
                Interruption interruption = new Interruption(cancellation, console::warn)) {
            TrainingRun trainer = new TrainingRun(
                    old.dataset(settings.find(TrainConfig.LAYOUT)),
                    settings,
                    weights.store(),
                    caching.root(),
                    training.context(device, display, cancellation));
            Extension.Prepared prepared = new Extension(trainer, run).prepare(added, folder.path());
            folder.begin(folder.path().resolve(Extension.IMAGES), caching.lines());
            console.say("run folder: " + folder.path());
            interruption.keeps(training.keepEvery());
            result = folder.train(prepared.trainer(), prepared.plan(), prepared.audit());
        } catch (InterruptedTrainingException stopped) {
            console.warn("interrupted before training began");
            return ExitCode.INTERRUPTED;
        }
        return finish(result, folder);
    }

    private int finish(RunResult result, RunFolder folder) throws IOException {
        if (result.early().isPresent()) {
            console.warn("interrupted; resume with: " + CommandHint.of("train", "--resume", folder.path()));
            return ExitCode.INTERRUPTED;
        }
        new TrainSummary(result, 1, folder).publish(console, true);
        return result.audit().unreadable().isEmpty() ? ExitCode.DONE : ExitCode.DATA;
    }
}
