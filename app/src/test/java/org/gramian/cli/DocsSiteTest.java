package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The documentation becomes a site, and no link within it is dead. */
class DocsSiteTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    private Path folder;

    private record Built(int code, String said) {}

    private static Built build(Path root, Path out) throws IOException, InterruptedException {
        assumeTrue(
                Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(place -> Files.isExecutable(Path.of(place, "pandoc"))),
                "pandoc is not installed: the site of the documentation is not built (apt-get install pandoc)");
        Process process = new ProcessBuilder(root.resolve("docs/build-site").toString(), out.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Built(process.waitFor(), said);
    }

    /** The script with two small pages of its own. */
    private Path small(String guide) throws IOException {
        Path root = folder.resolve("small");
        Path docs = root.resolve("docs");
        Files.createDirectories(docs.resolve("site"));
        Files.copy(ROOT.resolve("docs/build-site"), docs.resolve("build-site"), StandardCopyOption.COPY_ATTRIBUTES);
        try (Stream<Path> files = Files.list(ROOT.resolve("docs/site"))) {
            for (Path file : files.toList()) {
                Files.copy(file, docs.resolve("site").resolve(file.getFileName()));
            }
        }
        Files.writeString(root.resolve("README.md"), "# Start\n\nSee [it](docs/guide.md#a-part).\n");
        Files.writeString(docs.resolve("guide.md"), "# The guide\n\n## A part\n\n" + guide + "\n");
        return root;
    }

    @Test
    void siteHasAllPagesAndNoDeadLinks() throws IOException, InterruptedException {
        Path out = folder.resolve("site");
        Built built = build(ROOT, out);
        assertThat(built.code()).as(built.said()).isZero();
        assertThat(out.resolve("index.html"))
                .content()
                .contains("docs/guide.html", "style.css", "<nav")
                .doesNotContain("href=\"docs/guide.md");
        String index = Files.readString(out.resolve("search-index.js"));
        JsonNode sections = JsonMapper.shared()
                .readTree(index.substring(index.indexOf('['), index.lastIndexOf(',')) + "]"); // of a script
        assertThat(sections.size()).isGreaterThan(200);
        assertThat(sections).anySatisfy(section -> {
            assertThat(section.get(0).stringValue()).isEqualTo("docs/inspect.html#train");
            assertThat(section.get(3).stringValue()).contains("--false-alarms");
        });
        try (Stream<Path> pages = Files.list(ROOT.resolve("docs"))) {
            assertThat(pages.map(page -> page.getFileName().toString()).filter(name -> name.endsWith(".md")))
                    .isNotEmpty()
                    .allSatisfy(name -> assertThat(out.resolve("docs").resolve(name.replace(".md", ".html")))
                            .exists());
        }
    }

    @Test
    void aDeadLinkFailsAndLeavesTheOldSite() throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        assertThat(build(small("[up](../README.md)"), out).code()).isZero();
        assertThat(out.resolve("docs/guide.html")).content().contains("href=\"../index.html\"");
        for (String dead :
                List.of("[x](gone.md)", "[x](../README.md#no-such-part)", "![x](gone.png)", "[x](#nowhere)")) {
            Files.writeString(folder.resolve("small/docs/guide.md"), "# The guide\n\n## A part\n\n" + dead + "\n");
            Built built = build(folder.resolve("small"), out);
            assertThat(built.code()).as(dead).isEqualTo(1);
            assertThat(built.said()).contains("./docs/guide.html");
            assertThat(out.resolve("docs/guide.html")).content().contains("href=\"../index.html\"");
        }
    }

    @Test
    void aFolderOfSomethingElseIsNotTouched() throws IOException, InterruptedException {
        Path mine = Files.createDirectories(folder.resolve("mine"));
        Files.writeString(mine.resolve("photo.txt"), "precious");
        Built built = build(small("text"), mine);
        assertThat(built.code()).isEqualTo(1);
        assertThat(built.said()).contains("no site");
        assertThat(mine.resolve("photo.txt")).hasContent("precious");
    }
}
