package org.gramian.image.audit;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.gramian.basis.ParallelLoop;
import org.gramian.basis.Sha256;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.AuditReport.ClassCount;
import org.gramian.image.audit.AuditReport.Contents;
import org.gramian.image.audit.AuditReport.DuplicateGroup;
import org.gramian.image.audit.AuditReport.UnreadableImage;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.Sample;

/**
 * Checks a dataset for problems that would harm training.
 *
 * <p>Each image is decoded once, by one of several threads, and reduced to about a kilobyte ({@link ImageFacts}): memory is
 * one decoded image per thread, and a gigabyte for a million images.
 */
public final class Audit {
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
        return new Audit(
                options,
                reader,
                threads,
                Stream.concat(crops.stream(), Stream.of(needed)).toList());
    }

    /** Returns the image, or the reason why a required crop cannot be taken from it. */
    private ReadResult croppable(ReadResult whole, Sample sample) {
        ReadResult result = whole;
        for (Crops needed : crops) {
            if (result instanceof ReadResult.Readable) {
                result = needed.validate(whole, sample);
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
        ImageFacts[] facts = new ImageFacts[dataset.samples().size()];
        UnreadableImage[] unreadable = new UnreadableImage[facts.length];
        ParallelLoop.forEach(facts.length, threads, progress, index -> {
            Sample sample = dataset.samples().get(index);
            ReadResult whole = reader.apply(sample.file());
            switch (croppable(whole, sample)) {
                case ReadResult.Readable _ -> facts[index] = ImageFacts.of(index, (ReadResult.Readable) whole);
                case ReadResult.Unreadable(ReadResult.Problem problem, String reason) ->
                    unreadable[index] = new UnreadableImage(subject.member(index), problem, reason);
            }
        });
        List<ImageFacts> readable = present(facts);
        List<UnreadableImage> lost = present(unreadable);
        List<ClassCount> classes = count(subject, readable);
        List<DuplicateGroup> duplicates = new DuplicateSearch(subject, readable, options).find();
        List<Finding> findings = new ArrayList<>(DatasetFindings.ofUnreadable(lost));
        if (dataset.notes().stream().noneMatch(note -> note.kind() == Note.Kind.SAMPLED)) {
            findings.addAll(DatasetFindings.ofClasses(classes, options));
        }
        findings.addAll(DatasetFindings.ofSplits(subject, readable));
        findings.addAll(DatasetFindings.ofDuplicates(
                duplicates, !subject.partitionings().isEmpty()));
        findings.addAll(ImageIssue.findings(subject, readable, options));
        dataset.notes().forEach(note -> findings.add(DatasetFindings.of(note)));
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
                List.copyOf(findings));
    }

    private static String content(Dataset dataset, List<ImageFacts> readable) {
        MessageDigest digest = Sha256.digest();
        for (ImageFacts fact : readable) {
            byte[] name = dataset.samples().get(fact.index()).name().getBytes(StandardCharsets.UTF_8);
            digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(name.length).flip());
            digest.update(name);
            digest.update(HexFormat.of().parseHex(fact.digest()));
        }
        return Sha256.hex(digest.digest());
    }

    private static <T> List<T> present(T[] values) {
        return Arrays.stream(values).filter(Objects::nonNull).toList();
    }

    private static List<ClassCount> count(AuditInput subject, List<ImageFacts> readable) {
        List<String> parts = subject.parts();
        List<Integer> all = subject.dataset().counts();
        int[] good = new int[all.size()];
        Integer[][] splits = new Integer[all.size()][parts.size()];
        for (Integer[] row : splits) {
            Arrays.fill(row, 0);
        }
        for (ImageFacts fact : readable) {
            int label = subject.label(fact.index());
            good[label]++;
            int part = parts.indexOf(subject.member(fact.index()).split());
            if (part >= 0) {
                splits[label][part]++;
            }
        }
        List<ClassCount> counts = new ArrayList<>();
        for (int i = 0; i < good.length; i++) {
            counts.add(new ClassCount(subject.dataset().classes().get(i), all.get(i), good[i], List.of(splits[i])));
        }
        return counts;
    }
}
