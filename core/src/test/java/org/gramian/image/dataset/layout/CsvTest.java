package org.gramian.image.dataset.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.image.dataset.DatasetTrees.note;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.DatasetTrees;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Part;
import org.gramian.image.dataset.Sample;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class CsvTest {
    @TempDir
    Path root;

    @BeforeEach
    void pictures() throws IOException {
        DatasetTrees.folders(root, 3, "a", "b");
        DatasetTrees.file(root, "x, y/\u00fc \"1\".raw");
    }

    private Dataset open(String content) throws IOException {
        return Layouts.open(csv(content));
    }

    private Path csv(String content) throws IOException {
        return Files.writeString(root.resolve("list.csv"), content);
    }

    @Test
    void columnsMayComeInAnyOrderWithByteOrderMarkAndQuotes() throws IOException {
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
        assertThat(note(dataset.notes(), Kind.UNUSED_COLUMNS)).isEqualTo("1 column was not used: quality");
    }

    @Test
    void foldsAreNumbersOrParts() throws IOException {
        assertThat(open("path,label,fold\nb/b_0001.jpg,b,7\na/a_0001.jpg,a,0\n").assignment())
                .isEqualTo(new Assignment.Folds(List.of(0, 7)));
        Dataset parts = open("path,label,fold\nb/b_0001.jpg,b,val\na/a_0001.jpg,a,train\na/a_0002.jpg,a,test\n");
        assertThat(((Assignment.Splits) parts.assignment()).splits().getFirst().parts())
                .containsExactly(Part.TRAIN, Part.TEST, Part.VALIDATION);
    }

    @Test
    void absentPicturesAndRepeatedRowsAreCounted() throws IOException {
        Dataset dataset =
                open("path,label\na/a_0001.jpg,a\nb/b_0001.jpg,b\na/none.jpg,a\nc/none.jpg,c\na//a_0001.jpg,a\n");
        assertThat(dataset.samples()).hasSize(2);
        assertThat(dataset.notes().stream().map(note -> note.kind() + " " + note.examples()))
                .containsExactly(
                        "ABSENT_CLASSES [c]", "ABSENT_PICTURES [a/none.jpg]", "REPEATED_ROWS [a//a_0001.jpg (line 6)]");
    }

    @Test
    void pathsAreRelativeToARootThatIsGivenOrAbsoluteBelowIt(@TempDir Path elsewhere) throws IOException {
        Path csv = elsewhere.resolve("list.CSV");
        Files.writeString(
                csv,
                "path,label\na/a_0001.jpg,a\n" + root.resolve("b/b_0002.jpg").toAbsolutePath() + ",b\n");
        Layout layout = new Csv(Optional.of(root));
        Dataset dataset = layout.read(csv);
        assertThat(dataset.root()).isEqualTo(root);
        assertThat(dataset.samples()).extracting(Sample::name).containsExactly("a/a_0001.jpg", "b/b_0002.jpg");
        assertThat(Layouts.parse(layout.text())).isEqualTo(layout);
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(csv))
                .withMessageContaining("line 3: expected a path below " + elsewhere);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    void whatIsWrongIsSaidWithItsLine(String content, String message) throws IOException {
        Path csv = csv(content);
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(csv))
                .withMessageStartingWith(csv + ": ")
                .withMessageContaining(message);
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                arguments("", "expected a header path,label[,fold] and rows below it, found no row"),
                arguments("path,label\n", "found no row"),
                arguments("a/a_0001.jpg,a\n", "expected a header path,label[,fold], found no column 'path'"),
                arguments("path,lable\nx,y\n", "found no column 'label' in path,lable; 'lable' should be 'label'"),
                arguments("path;label\nx;y\n", "fields are separated by commas"),
                arguments("path,label,path\nx,y,z\n", "expected every column of the header once"),
                arguments("path,label\na/a_0001.jpg\n", "line 2: expected 2 fields, found 1"),
                arguments("path,label\na/a_0001.jpg,a,0\n", "line 2: expected 2 fields, found 3"),
                arguments("path,label\na/a_0001.jpg, \n", "line 2: expected a label, found none"),
                arguments("path,label\n\n,a\n", "line 3: expected a path, found none"),
                arguments("path,label,fold\na/a_0001.jpg,a,\n", "line 2: expected a fold, found none"),
                arguments("path,label,fold\na/a_0001.jpg,a,1\nnone.jpg,b,-1\n", "line 3: expected as fold a number"),
                arguments("path,label,fold\na/a_0001.jpg,a,1\nb/b_0001.jpg,b,test\n", "found 'test'"),
                arguments("path,label,fold\na/a_0001.jpg,a,first\n", "found 'first'"),
                arguments("path,label\n../a.jpg,a\n", "line 2: expected a path below"),
                arguments("path,label\na/../../x.jpg,a\n", "which leaves it; give a root above all pictures"),
                arguments("path,label\n.,a\n", "line 2: expected a path below"),
                arguments("path,label\na\0b,a\n", "line 2: expected a path, found"),
                arguments("path,label\na/a_0001.jpg,a\na/a_0001.jpg,b\n", "line 3: expected one label and fold"),
                arguments("path,label\na\\a_0001.jpg,a\n", "found none of the 1 listed"),
                arguments("path,label\na\\a_0001.jpg,a\n", "write paths with '/'"),
                arguments("path,label\na/a_0001.jpg,a\n", "found only the class 'a'"),
                arguments("path,label\n\"a/a_0001.jpg,a\n", "expected a CSV file, found: "));
    }

    @Test
    void otherBytesThanUtf8AreRefused() throws IOException {
        Path csv = csv("");
        Files.write(csv, "path,label\na/a_0001.jpg,gr\u00fcn\n".getBytes(StandardCharsets.ISO_8859_1));
        assertThatExceptionOfType(DatasetException.class)
                .isThrownBy(() -> Layouts.open(csv))
                .withMessage(csv + ": expected text in UTF-8, found other bytes");
    }

    @Test
    void partsCountInAnyCaseAndValidationTestsWhereNothingElseDoes() throws IOException {
        Dataset dataset = open("path,label,fold\na/a_0001.jpg,a,Train\na/a_0002.jpg,a,VAL\nb/b_0001.jpg,b,TRAIN\n");
        assertThat(((Assignment.Splits) dataset.assignment())
                        .splits()
                        .getFirst()
                        .parts())
                .containsExactly(Part.TRAIN, Part.TEST, Part.TRAIN);
        assertThat(note(dataset.notes(), Kind.VALIDATION_TESTS)).endsWith(": val");
    }

    @Test
    void testsThatAreAbsentAreNotReplacedByValidation() throws IOException {
        Dataset dataset = open("path,label,fold\na/a_0001.jpg,a,train\nb/b_0001.jpg,b,val\na/none.jpg,a,test\n");
        assertThat(((Assignment.Splits) dataset.assignment())
                        .splits()
                        .getFirst()
                        .parts())
                .containsExactly(Part.TRAIN, Part.VALIDATION);
    }
}
