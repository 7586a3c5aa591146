package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The table of docs/mathematics.md that says where each equation is. */
class EquationsPageTest {
    private static final Path DOCS = Path.of("..", "docs");
    private static final Pattern LINK =
            Pattern.compile("\\[`([\\w.]+)`]\\((\\.\\./core/src/main/java/[\\w/.]+\\.java)\\)");

    @Test
    void everyLinkNamesMemberOfItsFile() throws IOException {
        Matcher links = LINK.matcher(Files.readString(DOCS.resolve("mathematics.md")));
        int count = 0;
        while (links.find()) {
            Path file = DOCS.resolve(links.group(2)).normalize();
            String member = links.group(1).substring(links.group(1).lastIndexOf('.') + 1);
            assertThat(Files.readString(file))
                    .as("%s in %s", links.group(1), file)
                    .containsPattern("(\\b(class|record|interface|enum) |[\\w>\\]] )" + member + "\\b[ (<]");
            count++;
        }
        assertThat(count).isGreaterThan(20);
    }
}
