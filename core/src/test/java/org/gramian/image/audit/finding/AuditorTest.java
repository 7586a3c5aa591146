package org.gramian.image.audit.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.image.Image;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.AuditReport.ClassCount;
import org.gramian.image.audit.AuditReport.Contents;
import org.gramian.image.audit.AuditReport.DuplicateGroup;
import org.gramian.image.audit.AuditReport.Finding;
import org.gramian.image.audit.AuditReport.Finding.Kind;
import org.gramian.image.audit.AuditReport.Finding.Severity;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.testing.Facts;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class AuditorTest {
    @TempDir
    Path folder;

    private final SplittableRandom random = new SplittableRandom(3);

    private Image texture() {
        return SyntheticDataset.texture(random, 80, 90);
    }

    /** Made once: they take longer than the audits. */
    private static final List<Image> DIFFERENT = different();

    private static List<Image> different() {
        SplittableRandom random = new SplittableRandom(24);
        return Stream.generate(() -> SyntheticDataset.texture(random, 240, 230))
                .limit(24)
                .toList();
    }

    /** Two classes with twelve different images each. */
    private SyntheticDataset fine() {
        SyntheticDataset set = new SyntheticDataset(folder, "paper", "stone");
        for (int i = 10; i < 22; i++) {
            set.add("paper/" + i + ".jpg", DIFFERENT.get(i - 10)).in(i % 2 == 0 ? SplitPart.TRAIN : SplitPart.TEST);
            set.add("stone/" + i + ".jpg", DIFFERENT.get(i + 2)).in(i % 2 == 0 ? SplitPart.TRAIN : SplitPart.TEST);
        }
        return set;
    }

    private static void assertFound(AuditReport report, Severity severity, Kind kind, String text) {
        Finding finding = report.finding(kind).orElseThrow(() -> new AssertionError(report.findings()));
        assertThat(finding.severity()).isEqualTo(severity);
        assertThat(finding.items()).extracting(Finding.Item::toString).containsExactly(text);
        assertThat(report.spoils()).isEqualTo(severity == Severity.SPOILS);
    }

    private static void assertFound(AuditReport report, Severity severity, Kind kind, Facts facts) {
        String text = report.finding(kind).orElseThrow().items().getFirst().toString();
        assertThat(text).has(facts);
        assertFound(report, severity, kind, text);
    }

    @Test
    void findsNothingInSoundDataset() throws Exception {
        SyntheticDataset set = fine();
        AuditReport report = set.audit(set.divided(), 2);
        assertThat(report.findings()).isEmpty();
        assertThat(report.duplicates()).isEmpty();
        assertThat(report.spoils()).isFalse();
        assertThat(report.splits()).containsExactly("train", "test");
        assertThat(report.classes().getFirst()).isEqualTo(new ClassCount("paper", 12, 12, List.of(6, 6)));
    }

    @RandomTest(times = 3)
    void reportDoesNotDependOnThreads(Seed seed) throws Exception {
        SplittableRandom order = seed.random();
        SyntheticDataset set = new SyntheticDataset(folder, "a", "b", "c");
        Image common = SyntheticDataset.texture(order, 90, 80);
        for (int i = 100; i < 140; i++) {
            String name = "abc".charAt(order.nextInt(3)) + "/" + i + ".jpg";
            switch (order.nextInt(4)) {
                case 0 -> set.add(name, new ReadResult.Unreadable(ReadResult.Problem.TRUNCATED, "half of it"));
                case 1 -> set.add(name, common);
                case 2 -> set.add(name, SyntheticDataset.resized(common, order.nextInt(40, 80), 60));
                default -> set.add(name, SyntheticDataset.texture(order, 50, 60));
            }
        }
        assertThat(set.audit(set.dataset(), 1))
                .isEqualTo(set.audit(set.dataset(), 5))
                .isEqualTo(set.audit(set.dataset(), 64));
    }

    @Test
    void unreadableImageIsError() throws Exception {
        AuditReport report = fine().add(
                        "stone/x.jpg", new ReadResult.Unreadable(ReadResult.Problem.EMPTY, "the file has no bytes"))
                .audit();
        assertFound(report, Severity.SPOILS, Kind.UNREADABLE, "stone/x.jpg: the file has no bytes");
        assertThat(report.images()).isEqualTo(25);
        assertThat(report.contents().readable()).isEqualTo(24);
        assertThat(report.classes().get(1)).isEqualTo(new ClassCount("stone", 13, 12, List.of()));
    }

    @Test
    void duplicatesAcrossClassesAreErrors() throws Exception {
        Image twice = texture();
        AuditReport report =
                fine().add("paper/a.jpg", twice).add("stone/b.jpg", twice).audit();
        assertFound(report, Severity.SPOILS, Kind.COPIES_ACROSS_CLASSES, "paper/a.jpg = stone/b.jpg");
        assertThat(report.duplicates()).singleElement().satisfies(group -> {
            assertThat(group.kind()).isEqualTo(DuplicateGroup.Kind.SAME_PIXELS);
            assertThat(group.acrossClasses()).isTrue();
        });
    }

    @Test
    void distinguishesEqualFilesFromEqualPixels() throws Exception {
        Image twice = texture();
        SyntheticDataset set = fine().add("paper/a.jpg", twice).holding("same").add("paper/b.jpg", twice);
        assertThat(set.holding("same").audit().duplicates().getFirst().kind()).isEqualTo(DuplicateGroup.Kind.SAME_FILE);
        assertThat(set.holding("more").audit().duplicates().getFirst().kind())
                .isEqualTo(DuplicateGroup.Kind.SAME_PIXELS);
    }

    @Test
    void duplicatesAcrossSplitsAreErrors() throws Exception {
        Image twice = texture();
        SyntheticDataset set = fine().add("paper/a.jpg", twice).add("paper/b.jpg", twice);
        assertFound(
                set.audit(set.divided(), 2), Severity.WARN, Kind.COPIES, "paper/a.jpg [train] = paper/b.jpg [train]");
        set.in(SplitPart.TEST);
        assertFound(
                set.audit(set.divided(), 2),
                Severity.SPOILS,
                Kind.COPIES_ACROSS_SPLITS,
                "paper/a.jpg [train] = paper/b.jpg [test]");
        set.in(SplitPart.UNUSED);
        assertFound(set.audit(set.divided(), 2), Severity.WARN, Kind.COPIES, "paper/a.jpg [train] = paper/b.jpg");
    }

    @Test
    void findsNearDuplicatesAcrossClassesAndSplits() throws Exception {
        Image one = texture();
        Image other = texture();
        SyntheticDataset set = fine().add("paper/a.jpg", one)
                .add("paper/b.jpg", SyntheticDataset.changed(one, value -> value + 5))
                .in(SplitPart.TEST)
                .add("paper/c.jpg", other)
                .add("stone/d.jpg", SyntheticDataset.changed(other, value -> value + 5));
        AuditReport report = set.audit(set.divided(), 2);
        assertFound(report, Severity.WARN, Kind.NEAR_COPIES_ACROSS_SPLITS, "paper/a.jpg [train] ~ paper/b.jpg [test]");
        assertFound(
                report, Severity.WARN, Kind.NEAR_COPIES_ACROSS_CLASSES, "paper/c.jpg [train] ~ stone/d.jpg [train]");
    }

    @Test
    void namesSplitsThatSeparateDuplicates() throws Exception {
        Image twice = texture();
        SyntheticDataset set = new SyntheticDataset(folder, "a", "b")
                .add("a/1.jpg", twice)
                .add("a/2.jpg", twice)
                .add("b/1.jpg", texture())
                .add("b/2.jpg", texture());
        SplitPart[] train = {SplitPart.TRAIN, SplitPart.TRAIN, SplitPart.TRAIN, SplitPart.TRAIN};
        SplitPart[] half = {SplitPart.TRAIN, SplitPart.TEST, SplitPart.TRAIN, SplitPart.TEST};
        AuditReport report = set.audit(set.divided(half, train, half), 1);
        assertFound(
                report, Severity.SPOILS, Kind.COPIES_ACROSS_SPLITS, facts("a/1.jpg = a/2.jpg", "split 1", "split 3"));
        assertThat(report.splits()).isEmpty();
    }

    @Test
    void findsClassMissingFromSplit() throws Exception {
        SyntheticDataset set = new SyntheticDataset(folder, "a", "b");
        for (String name : new String[] {"a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.jpg"}) {
            set.add(name, texture()).in(name.contains("1") ? SplitPart.TRAIN : SplitPart.TEST);
        }
        set.in(SplitPart.TRAIN); // b/2.jpg
        AuditReport report = set.audit(set.divided(), 2);
        assertFound(report, Severity.SPOILS, Kind.CLASS_MISSING_FROM_SPLIT, facts("b", "test", "official"));
    }

    @Test
    void findsSmallAndImbalancedClasses() throws Exception {
        SyntheticDataset set = new SyntheticDataset(folder, "few", "many", "one");
        set.add("few/1.jpg", texture()).add("few/2.jpg", texture()).add("one/1.jpg", texture());
        set.add("one/2.jpg", new ReadResult.Unreadable(ReadResult.Problem.CORRUPT, "broken"));
        for (int i = 10; i < 35; i++) {
            set.add("many/" + i + ".jpg", texture());
        }
        AuditReport report = set.audit();
        assertFound(report, Severity.SPOILS, Kind.TOO_FEW_IMAGES, facts("one", "1"));
        assertThat(report.finding(Kind.SMALL_CLASSES).orElseThrow().items())
                .extracting(Finding.Item::toString)
                .singleElement()
                .has(facts("few", "2"));
        assertThat(report.finding(Kind.IMBALANCE).orElseThrow().sentence()).has(facts("25.0"));
    }

    @Test
    void findsIssuesOfImages() throws Exception {
        Image gray = SyntheticDataset.texture(random, 240, 230);
        Image turned = SyntheticDataset.texture(random, 230, 240);
        AuditReport report = fine().add("paper/1.jpg", SyntheticDataset.texture(random, 63, 100))
                .add("paper/2.jpg", SyntheticDataset.texture(random, 100, 64))
                .add("paper/3.jpg", SyntheticDataset.texture(random, 1000, 300))
                .add("paper/4.jpg", SyntheticDataset.colour(9, 9, 9))
                .add(
                        "paper/5.jpg",
                        new ReadResult.Readable(
                                gray, new ImageInfo(ImageFormat.PNG, ImageInfo.Colour.GRAY, 16, 240, 230, 1)))
                .add(
                        "paper/6.JPEG",
                        new ReadResult.Readable(
                                turned, new ImageInfo(ImageFormat.JPEG, ImageInfo.Colour.RGB, 8, 230, 240, 6)))
                .audit();
        assertFound(report, Severity.WARN, Kind.TINY, "paper/1.jpg: 63×100");
        assertFound(report, Severity.NOTE, Kind.ENLARGED, "paper/2.jpg: 100×64");
        assertFound(report, Severity.WARN, Kind.EXTREME_ASPECT, "paper/3.jpg: 1000×300");
        assertFound(report, Severity.WARN, Kind.SINGLE_COLOUR, "paper/4.jpg: 300×300");
        assertFound(report, Severity.NOTE, Kind.COLOUR_MODES, facts("paper/5.jpg", "gray", "16"));
        assertFound(report, Severity.NOTE, Kind.WRONG_EXTENSION, facts("paper/5.jpg", "PNG"));
        assertFound(report, Severity.NOTE, Kind.TURNED, facts("paper/6.JPEG", "EXIF", "6"));
        assertThat(report.contents().width()).isEqualTo(new Contents.Spread(63, 240, 1000));
        assertThat(report.findings()).isSortedAccordingTo(Comparator.comparing(Finding::severity));
    }

    @Test
    void singleColoursAreNotNearDuplicates() throws Exception {
        AuditReport report = fine().add("paper/a.jpg", SyntheticDataset.colour(1, 2, 3))
                .add("paper/b.jpg", SyntheticDataset.colour(200, 2, 3))
                .audit();
        assertThat(report.duplicates()).isEmpty();
    }

    @Test
    void writesJson() throws Exception {
        Image twice = texture();
        AuditReport report =
                fine().add("paper/a.jpg", twice).add("stone/b.jpg", twice).audit();
        JsonNode json = JsonMapper.shared().readTree(JsonMapper.shared().writeValueAsString(report));
        assertThat(json.get("spoils").asBoolean()).isTrue();
        assertThat(json.get("images").asInt()).isEqualTo(26);
        assertThat(json.at("/duplicates/0/images/1/label").asString()).isEqualTo("stone");
        assertThat(json.at("/findings/0/severity").asString()).isEqualTo("SPOILS");
        assertThat(json.at("/contents/formats/JPEG").asInt()).isEqualTo(26);
        assertThat(json.at("/options/hashDistance").asInt()).isEqualTo(7);
        assertThat(json.at("/classes/1/readable").asInt()).isEqualTo(13);
    }

    @Test
    void tooThinImageIsError() throws Exception {
        AuditReport report = fine().add("stone/thin.jpg", SyntheticDataset.texture(random, 70 * 33, 70))
                .add("stone/long.jpg", SyntheticDataset.texture(random, 70 * 31, 70))
                .audit();
        assertFound(report, Severity.SPOILS, Kind.TOO_THIN, "stone/thin.jpg: 2310×70");
        assertThat(report.finding(Kind.EXTREME_ASPECT).orElseThrow().items())
                .extracting(Finding.Item::toString)
                .containsExactly("stone/long.jpg: 2170×70");
    }

    @Test
    void notesBecomeFindings() throws Exception {
        SyntheticDataset set = fine();
        List<Note> notes = Stream.of(Note.Kind.ABSENT_IMAGES, Note.Kind.UNUSED_IMAGES, Note.Kind.VALIDATION_TESTS)
                .map(kind -> new Note(kind, 1, List.of("a")))
                .toList();
        Dataset.Source source = new Dataset.Source("folders", set.dataset().assignment(), notes);
        Dataset noted =
                new Dataset(folder, set.dataset().classes(), set.dataset().samples(), source);
        assertThat(set.audit(noted, 1).findings())
                .extracting(Finding::severity)
                .containsExactly(Severity.WARN, Severity.WARN, Severity.NOTE);
    }
}
