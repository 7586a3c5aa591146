package org.gramian.image.dataset.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.image.dataset.DatasetTrees.note;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.DatasetTrees;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Sample;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CsvTest {
    @TempDir
    Path root;

    @BeforeEach
    void images() throws IOException {
        DatasetTrees.folders(root, 3, "a", "b");
        DatasetTrees.file(root, "x, y/\u00fc \"1\".raw");
    }

    private Dataset open(String content) throws IOException {
        return Layouts.open(csv(content));
    }

    private static List<SplitPart> parts(Dataset dataset) {
        return ((Assignment.Splits) dataset.assignment()).splits().getFirst().parts();
    }

    private Path csv(String content) throws IOException {
        return Files.writeString(root.resolve("list.csv"), content);
    }

    @Test
    void readsColumnsInAnyOrderWithMarkAndQuotes() throws IOException {
        String table = """
            Label, Path ,quality
            red,a/a_0001.jpg,1

            red,./b/../a/a_0002.jpg,2
            "blue, dark","x, y/\u00fc ""1"".raw",3
            """;
        Dataset dataset = open("\uFEFF" + table.replace("\n", "\r\n"));
        assertThat(dataset.classes()).containsExactly("blue, dark", "red");
        assertThat(dataset.samples())
                .extracting(Sample::name)
                .containsExactly("a/a_0001.jpg", "a/a_0002.jpg", "x, y/\u00fc \"1\".raw");
        assertThat(dataset.assignment()).isEqualTo(new Assignment.None());
        assertThat(note(dataset.notes(), Kind.UNUSED_COLUMNS)).has(facts("1", "quality"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "image,class,split\na/a_0001.jpg,a,train\nb/b_0001.jpg,b,test\n",
                "Filename;Category;Set\na/a_0001.jpg;a;train\nb/b_0001.jpg;b;test\n",
                "label\tfold\tpath\na\ttrain\ta/a_0001.jpg\nb\ttest\tb/b_0001.jpg\n"
            })
    void readsOtherNamesAndSeparators(String content) throws IOException {
        Dataset dataset = open(content);
        assertThat(dataset.samples()).extracting(Sample::name).containsExactly("a/a_0001.jpg", "b/b_0001.jpg");
        assertThat(dataset.classes()).containsExactly("a", "b");
        assertThat(parts(dataset)).containsExactly(SplitPart.TRAIN, SplitPart.TEST);
    }

    @Test
    void foldsAreNumbersOrSplitParts() throws IOException {
        assertThat(open("path,label,fold\nb/b_0001.jpg,b,7\na/a_0001.jpg,a,0\n").assignment())
                .isEqualTo(new Assignment.Folds(List.of(0, 7)));
        Dataset parts = open("path,label,fold\nb/b_0001.jpg,b,val\na/a_0001.jpg,a,train\na/a_0002.jpg,a,test\n");
        assertThat(parts(parts)).containsExactly(SplitPart.TRAIN, SplitPart.TEST, SplitPart.VALIDATION);
    }

    @Test
    void notesMissingImagesAndRepeatedRows() throws IOException {
        Dataset dataset =
                open("path,label\na/a_0001.jpg,a\nb/b_0001.jpg,b\na/none.jpg,a\nc/none.jpg,c\na//a_0001.jpg,a\n");
        assertThat(dataset.samples()).hasSize(2);
        assertThat(dataset.notes().stream().map(note -> note.kind() + " " + note.examples()))
                .containsExactly(
                        "ABSENT_CLASSES [c]", "ABSENT_IMAGES [a/none.jpg]", "REPEATED_ROWS [a//a_0001.jpg (line 6)]");
    }

    @Test
    void pathsAreRelativeToRootOrAbsoluteBelowIt(@TempDir Path elsewhere) throws IOException {
        Path csv = elsewhere.resolve("list.CSV");
        Files.writeString(
                csv,
                "path,label\na/a_0001.jpg,a\n" + root.resolve("b/b_0002.jpg").toAbsolutePath() + ",b\n");
        DatasetLayout layout = new Csv(Optional.of(root));
        Dataset dataset = layout.read(csv);
        assertThat(dataset.root()).isEqualTo(root);
        assertThat(dataset.samples()).extracting(Sample::name).containsExactly("a/a_0001.jpg", "b/b_0002.jpg");
        assertThat(Layouts.parse(layout.text())).isEqualTo(layout);
        assertRejected(DatasetException.class, () -> Layouts.open(csv), "3", elsewhere);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    void rejectsInvalidFilesWithLine(String content, Facts message) throws IOException {
        Path csv = csv(content);
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(csv))
                .withMessageStartingWith(csv + ": ")
                .has(message);
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                arguments("", facts("path,label[,fold]")),
                arguments("path,label\n", facts("row")),
                arguments("a/a_0001.jpg,a\n", facts("path,label[,fold]", "'path'")),
                arguments("path|label\nx|y\n", facts("path,label", "path|label")),
                arguments("path,label,path\nx,y,z\n", facts("column")),
                arguments("path,label\na/a_0001.jpg\n", facts("2", "2", "1")),
                arguments("path,label\na/a_0001.jpg, \n", facts("2", "label")),
                arguments("path,label\n\n,a\n", facts("3", "path")),
                arguments("path,label,fold\na/a_0001.jpg,a,1\nnone.jpg,b,-1\n", facts("3", "fold")),
                arguments("path,label,fold\na/a_0001.jpg,a,1\nb/b_0001.jpg,b,test\n", facts("'test'")),
                arguments("path,label\na/../../x.jpg,a\n", facts("2", "a/../../x.jpg")),
                arguments("path,label\n.,a\n", facts("2", "path")),
                arguments("path,label\na\0b,a\n", facts("2", "path")),
                arguments("path,label\na/a_0001.jpg,a\na/a_0001.jpg,b\n", facts("3", "label", "fold")),
                arguments("path,label\na\\a_0001.jpg,a\n", facts("'/'")),
                arguments("path,label\na/a_0001.jpg,a\n", facts("'a'")),
                arguments("path,label\n\"a/a_0001.jpg,a\n", facts("CSV")));
    }

    @Test
    void rejectsOtherEncodingsThanUtf8() throws IOException {
        Path csv = csv("");
        Files.write(csv, "path,label\na/a_0001.jpg,gr\u00fcn\n".getBytes(StandardCharsets.ISO_8859_1));
        assertRejected(DatasetException.class, () -> Layouts.open(csv), csv, "UTF-8");
    }

    @Test
    void validationSetBecomesMissingTestSet() throws IOException {
        Dataset dataset = open("path,label,fold\na/a_0001.jpg,a,Train\na/a_0002.jpg,a,VAL\nb/b_0001.jpg,b,TRAIN\n");
        assertThat(parts(dataset)).containsExactly(SplitPart.TRAIN, SplitPart.TEST, SplitPart.TRAIN);
        assertThat(note(dataset.notes(), Kind.VALIDATION_TESTS)).has(facts("val"));
    }

    @Test
    void missingTestImagesAreNotReplacedByValidationSet() throws IOException {
        Dataset dataset = open("path,label,fold\na/a_0001.jpg,a,train\nb/b_0001.jpg,b,val\na/none.jpg,a,test\n");
        assertThat(parts(dataset)).containsExactly(SplitPart.TRAIN, SplitPart.VALIDATION);
    }
}
