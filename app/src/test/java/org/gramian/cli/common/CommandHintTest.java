package org.gramian.cli.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class CommandHintTest {
    @Test
    void usesNameOfLauncher() {
        assertThat(CommandHint.under("./gramian", "train", "--resume", Path.of("runs/a-1")))
                .isEqualTo("./gramian train --resume runs/a-1");
    }

    @Test
    void quotesForTheShell() {
        assertThat(CommandHint.under("/my tools/gramian", "show", "it's $HOME", ""))
                .isEqualTo("'/my tools/gramian' show 'it'\\''s $HOME' ''");
    }
}
