package org.gramian.image.audit;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.gramian.basis.Sha256;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.AuditReport.UnreadableImage;
import org.gramian.image.audit.Finding.Item;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.Sample;

/**
 * Checks a dataset for problems that would harm training.
 *
 * <p>Each image is decoded once, by one of several threads, and reduced to about a kilobyte ({@link ImageStatistics}): memory is
 * one decoded image per thread, and a gigabyte for a million images.
 */
public final class Audit {
    /** Notes that images or classes are missing. */
    private static final Set<Note.Kind> LOSSES = EnumSet.of(
            Note.Kind.OUTSIDE_LAYOUT,
            Note.Kind.NESTED,
            Note.Kind.UNUSED_IMAGES,
            Note.Kind.EMPTY_CLASSES,
            Note.Kind.ABSENT_CLASSES,
            Note.Kind.ABSENT_IMAGES,
            Note.Kind.UNLABELLED_IMAGES);

    private final AuditOptions options;
    private final Function<Path, ReadResult> reader;
    private final int threads;
    private final List<Crops> crops;

    /**
     * @param reader reads an image's file, from several threads at once; {@code new ImageReader(limits)::read}
     * @param threads number of threads, at least 1
     */
    public Audit(AuditOptions options, Function<Path, ReadResult> reader, int threads) {
        this(options, reader, threads, List.of());
    }

    private Audit(AuditOptions options, Function<Path, ReadResult> reader, int threads, List<Crops> crops) {
        if (threads < 1) {
            throw new IllegalArgumentException("an audit needs at least 1 thread, found " + threads);
        }
        this.options = options;
        this.reader = reader;
        this.threads = threads;
        this.crops = crops;
    }

    /** Returns an audit that also reports images from which these crops cannot be taken as unreadable. */
    public Audit requiring(Crops needed) {
        List<Crops> more = new ArrayList<>(crops);
        more.add(needed);
        return new Audit(options, reader, threads, List.copyOf(more));
    }

    /** Returns the image, or the reason why a required crop cannot be taken from it. */
    private ReadResult croppable(ReadResult whole, Sample sample) {
        ReadResult result = whole;
        for (Crops needed : crops) {
            if (result instanceof ReadResult.Readable) {
                result = needed.seen(whole, sample);
            }
        }
        return result;
    }

    /**
     * Audits a dataset.
     *
     * @param progress receives the number of finished images, in ascending order
     */
    public AuditReport of(Dataset dataset, LongConsumer progress) throws InterruptedException {
        AuditInput subject = AuditInput.of(dataset);
        ImageStatistics[] facts = new ImageStatistics[dataset.samples().size()];
        UnreadableImage[] unreadable = new UnreadableImage[facts.length];
        ParallelIndices.forEach(facts.length, threads, progress, index -> {
            Sample sample = dataset.samples().get(index);
            ReadResult whole = reader.apply(sample.file());
            switch (croppable(whole, sample)) {
                case ReadResult.Readable _ -> facts[index] = ImageStatistics.of(index, (ReadResult.Readable) whole);
                case ReadResult.Unreadable(ReadResult.Problem problem, String reason) ->
                    unreadable[index] = new UnreadableImage(subject.member(index), problem, reason);
            }
        });
        List<ImageStatistics> readable = present(facts);
        List<UnreadableImage> lost = present(unreadable);
        List<ClassCount> classes = count(subject, readable);
        List<DuplicateGroup> duplicates = new DuplicateSearch(subject, readable, options).find();
        List<Finding> findings = new ArrayList<>(of(lost));
        findings.addAll(new ClassFindings(classes, options).find(subject, readable));
        findings.addAll(
                new DuplicateFindings(duplicates, !subject.partitionings().isEmpty()).find());
        findings.addAll(ImageIssue.findings(subject, readable, options));
        dataset.notes().forEach(note -> findings.add(of(note)));
        findings.sort(Comparator.comparing(Finding::severity).thenComparing(Finding::kind));
        return new AuditReport(
                dataset.root().toString(),
                dataset.source().layout(),
                options,
                subject.parts(),
                content(dataset, readable),
                classes,
                Contents.of(readable),
                lost,
                duplicates,
                findings);
    }

    private static String content(Dataset dataset, List<ImageStatistics> readable) {
        MessageDigest digest = Sha256.digest();
        for (ImageStatistics fact : readable) {
            byte[] name = dataset.samples().get(fact.index()).name().getBytes(StandardCharsets.UTF_8);
            digest.update(ByteBuffer.allocate(Integer.BYTES + name.length + 2 * Long.BYTES)
                    .putInt(name.length)
                    .put(name)
                    .putLong(fact.digest().high())
                    .putLong(fact.digest().low())
                    .flip());
        }
        return Sha256.hex(digest.digest());
    }

    private static <T> List<T> present(T[] values) {
        return Arrays.stream(values).filter(Objects::nonNull).toList();
    }

    private static List<ClassCount> count(AuditInput subject, List<ImageStatistics> readable) {
        List<String> parts = subject.parts();
        int[] all = new int[subject.dataset().classes().size()];
        int[] good = new int[all.length];
        Integer[][] splits = new Integer[all.length][parts.size()];
        for (Integer[] row : splits) {
            Arrays.fill(row, 0);
        }
        subject.dataset().samples().forEach(sample -> all[sample.label()]++);
        for (ImageStatistics fact : readable) {
            int label = subject.label(fact.index());
            good[label]++;
            int part = parts.indexOf(subject.member(fact.index()).split());
            if (part >= 0) {
                splits[label][part]++;
            }
        }
        List<ClassCount> counts = new ArrayList<>();
        for (int i = 0; i < all.length; i++) {
            counts.add(new ClassCount(subject.dataset().classes().get(i), all[i], good[i], List.of(splits[i])));
        }
        return counts;
    }

    private static List<Finding> of(List<UnreadableImage> unreadable) {
        if (unreadable.isEmpty()) {
            return List.of();
        }
        List<Item> items = unreadable.stream()
                .map(lost -> new Item(
                        lost.image().toString(),
                        lost.reason(),
                        List.of(lost.image().name())))
                .toList();
        return List.of(new Finding(
                Severity.SPOILS,
                Finding.Kind.UNREADABLE,
                Finding.count(items.size(), "image") + " cannot be read",
                "Training skips them: repair, replace or remove them.",
                items));
    }

    private static Finding of(Note note) {
        return new Finding(
                LOSSES.contains(note.kind()) ? Severity.WARN : Severity.NOTE,
                Finding.Kind.LAYOUT,
                new Note(note.kind(), note.count(), List.of()).text(),
                advice(note.kind()),
                note.examples().stream()
                        .map(example -> new Item(example, "", List.of()))
                        .toList());
    }

    private static String advice(Note.Kind kind) {
        return switch (kind) {
            case OUTSIDE_LAYOUT, NESTED, UNUSED_IMAGES, UNUSED_FOLDERS, EMPTY_CLASSES ->
                "Everything else was read; another --layout may read more.";
            case NOT_IMAGES, VIDEOS, UNDECODABLE_NAMES, HIDDEN_FOLDERS, MASKS, UNUSED_COLUMNS, REPEATED_ROWS ->
                "Everything else was read.";
            case VALIDATION_TESTS ->
                "Hyperparameters selected on these images are then tested on them, which biases the result upwards.";
            case ABSENT_CLASSES, ABSENT_IMAGES -> "Is the download complete, and are the names spelt as in the lists?";
            case UNLISTED_IMAGES, UNLABELLED_IMAGES -> "Add them to the lists to use them.";
            case UNTESTED_CLASSES, UNVALIDATED_CLASSES, STRADDLING_COPIES, COPIES_ACROSS_CLASSES, UNCOMPARED_FILES ->
                "Check them before trusting a result.";
        };
    }
}
