package org.gramian.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.pooling.Methods;
import org.gramian.run.config.ConfigKey;
import org.junit.jupiter.api.Test;

/** What docs/training.md says about defaults is what the program does. */
class TrainingPageTest {
    private static final Pattern ROW =
            Pattern.compile("\\|[^|]*\\| `((?:data|network|stage1|stage2|optimizer|stiefel)\\.[a-z-]+)` \\| (.*) \\|");

    /** The choices of the table by key, without marks of code. */
    private static Map<String, String> choices() throws IOException {
        Map<String, String> choices = new LinkedHashMap<>();
        for (String line : Files.readAllLines(Path.of("../docs/training.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                assertThat(choices.put(row.group(1), row.group(2).replace("`", "")))
                        .as(line)
                        .isNull();
            }
        }
        return choices;
    }

    @Test
    void theTableSaysForEachKeyWhatHoldsWithoutIt() throws IOException {
        Map<String, String> choices = choices();
        choices.forEach((name, choice) -> assertThat(choice)
                .as(name)
                .matches(Pattern.quote(ConfigKey.of(name).defaultText()) + "(?![\\w]).*"));
        assertThat(choices.get("network.pooling"))
                .contains(" " + Methods.find("default").orElseThrow().pooling() + ",");
    }

    @Test
    void tableListsAutomaticDefaults() throws IOException {
        Map<String, String> choices = choices();
        assertThat(ConfigKey.all().stream()
                        .filter(key -> key.fixedDefault().isEmpty())
                        .map(ConfigKey::name)
                        .filter(name -> !choices.containsKey(name)))
                .containsExactly(
                        "data.layout", "network.weights", "accelerate"); // the folder and the network say which
    }
}
