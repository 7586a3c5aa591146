package org.gramian.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.gramian.cli.ImageFolder;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class AuditCommandTest {
    private static final byte[] NONSENSE = "not a picture".getBytes(StandardCharsets.UTF_8);

    /** Start of an error among the findings. */
    private static final String ERROR = "(?m)^error ";

    @TempDir
    Path folder;

    private Path images() {
        return folder.resolve("pictures");
    }

    @Test
    void soundDatasetHasNoErrors() throws IOException {
        ImageFolder.sound(images());
        Run run = Run.of("audit", images());
        assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.DONE);
        assertThat(run.out())
                .has(facts("24", "2", "24 BMP", "240"))
                .containsPattern("paper +12\n")
                .doesNotContainPattern(ERROR);
    }

    @Test
    void errorsGiveExitCodeThree() throws IOException {
        ImageFolder.sound(images())
                .add("paper/broken.jpg", NONSENSE)
                .add("paper/same.bmp", 77)
                .add("stone/same.bmp", 77);
        Run run = Run.of("audit", images(), "--threads", 1);
        assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.DATA);
        assertThat(run.out())
                .containsPattern(ERROR + "+1\\b")
                .containsPattern(ERROR + "+2\\b")
                .contains("- paper/broken.jpg: ", "- paper/same.bmp = stone/same.bmp")
                .containsPattern("paper +14 +13\n");
        assertThat(run.out().lines().toList().getLast()).has(facts("2"));
    }

    @Test
    void findsDuplicatesAcrossSplits() throws IOException {
        for (String part : new String[] {"train", "test"}) {
            for (String category : new String[] {"paper", "stone"}) {
                for (int i = 0; i < 10; i++) {
                    long seed = 1000L * part.length() + 100L * category.charAt(0) + i;
                    new ImageFolder(images()).add(part + "/" + category + "/" + i + ".bmp", seed);
                }
            }
        }
        assertThat(Run.of("audit", images()).code()).isEqualTo(ExitCode.DONE);
        new ImageFolder(images()).add("train/paper/x.bmp", 1).add("test/paper/y.bmp", 1);
        Run run = Run.of("audit", images());
        assertThat(run.code()).as(run.out()).isEqualTo(ExitCode.DATA);
        assertThat(run.out())
                .containsPattern("class +\\w+ +train +test\n")
                .contains("- test/paper/y.bmp = train/paper/x.bmp");
    }

    @Test
    void printsOnlyJsonToStandardOutput() throws IOException {
        ImageFolder.sound(images()).add("paper/broken.jpg", NONSENSE);
        Run run = Run.of("audit", images(), "--json", "-");
        assertThat(run.code()).isEqualTo(ExitCode.DATA);
        JsonNode json = JsonMapper.shared().readTree(run.out());
        assertThat(json.get("spoils").asBoolean()).isTrue();
        assertThat(json.get("images").asInt()).isEqualTo(25);
        assertThat(json.at("/classes/0/name").asString()).isEqualTo("paper");
        assertThat(json.at("/unreadable/0/problem").asString()).isEqualTo("UNKNOWN_FORMAT");
        assertThat(json.at("/unreadable/0/image/name").asString()).isEqualTo("paper/broken.jpg");
        assertThat(json.at("/findings/0/kind").asString()).isEqualTo("UNREADABLE");
    }

    @Test
    void replacesFilesBySelfContainedOnes() throws IOException {
        ImageFolder.sound(images()).add("paper/a.bmp", 5).add("paper/b.bmp", 5);
        Path json = Files.writeString(folder.resolve("audit.json"), "old");
        Path html = Files.writeString(folder.resolve("audit.html"), "old");
        Run run = Run.of("audit", images(), "--json", json, "--html", html).done();
        assertThat(run.out()).isNotBlank().doesNotContainPattern(ERROR);
        assertThat(JsonMapper.shared()
                        .readTree(Files.readString(json))
                        .get("spoils")
                        .asBoolean())
                .isFalse();
        String page = Files.readString(html);
        assertThat(page)
                .startsWith("<!DOCTYPE html>")
                .endsWith("</html>\n")
                .contains("data:image/jpeg;base64,")
                .doesNotContain("http:", "https:", "@import", "url(", "<script", "<link", "<iframe", "<object")
                .doesNotContainPattern("(src|href)=\"(?!data:image/jpeg;base64,)");
        try (var left = Files.list(folder)) {
            assertThat(left).hasSize(3);
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS) // where no folder can have such a name
    void escapesNamesInHtml() throws IOException {
        String hostile = "<script>alert('x')<\u200bscript> & \"quoted\"";
        ImageFolder.sound(images())
                .add(hostile + "/1.bmp", 5)
                .add(hostile + "/2.bmp", 5)
                .add("paper/<img src=x onerror=alert(1)>.bmp", 5)
                .add(hostile + "/<b>.jpg", NONSENSE);
        Path html = folder.resolve("audit.html");
        assertThat(Run.of("audit", images(), "--html", html).code()).isEqualTo(ExitCode.DATA);
        String page = Files.readString(html);
        assertThat(page)
                .doesNotContain("<script", "<img src=x", "<b>.jpg")
                .contains("&lt;script>alert", "&lt;img src=x", "&lt;b&gt;.jpg");
        assertThat(Pattern.compile("alt=\"[^\"]*\"").matcher(page).results()).isNotEmpty();
    }

    @Test
    void reportsMissingClasses() throws IOException {
        for (int i = 0; i < 10; i++) {
            new ImageFolder(images()).add("paper/" + i + ".bmp", i);
        }
        Run one = Run.of("audit", images());
        assertThat(one.code()).as(one.err()).isEqualTo(ExitCode.DATA);
        assertThat(one.out()).containsPattern(ERROR);

        Path splits = folder.resolve("splits");
        for (int i = 0; i < 10; i++) {
            new ImageFolder(splits).add("train/paper/" + i + ".bmp", i).add("train/stone/" + i + ".bmp", -i - 1);
            new ImageFolder(splits).add("test/paper/" + i + ".bmp", 100 + i);
        }
        Run missing = Run.of("audit", splits);
        assertThat(missing.code()).as(missing.err()).isEqualTo(ExitCode.DATA);
        assertThat(missing.out()).containsPattern(ERROR).has(facts("- stone", "test"));
    }

    @Test
    @DisabledOnOs(OS.WINDOWS) // where no folder can have such a name
    void removesControlCharactersFromNames() throws IOException {
        ImageFolder.sound(images()).add("\u001b[31mred/1.bmp", 5).add("\u001b[31mred/\u001b]0;x.bmp", NONSENSE);
        Run run = Run.of("audit", images(), "--all");
        assertThat(run.out()).contains("\uFFFD[31mred").doesNotContain("\u001b");
    }

    @Test
    @DisabledOnOs(OS.WINDOWS) // where names may be longer
    void printsFindingsBeforeWritingFiles() throws IOException {
        ImageFolder.sound(images());
        Run run = Run.of("audit", images(), "--json", folder.resolve("x".repeat(300)));
        assertThat(run.code()).isEqualTo(ExitCode.USAGE);
        assertThat(run.out()).has(facts("24", "2"));
        assertThat(run.err()).contains("x".repeat(300));
    }

    @Test
    void rejectsInvalidArguments() throws IOException {
        ImageFolder.sound(images());
        Path absent = folder.resolve("absent");
        Run.of("audit", absent).failed(ExitCode.DATA, "absent");
        Run.of("audit", images(), "--threads", 0).refused(ExitCode.USAGE, "1", "thread", "0");
        Run.of("audit", images(), "--html", absent.resolve("audit.html")).refused(ExitCode.USAGE, absent);
        Run.of("audit", images(), "--json", images()).refused(ExitCode.USAGE, images());
        Run.of("audit", images(), "--layout", "foldrs").refused(ExitCode.USAGE, "foldrs");
    }
}
