package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DiskSpaceTest {
    @Test
    void aFolderHasTheSpaceOfItsDiskAndNothingIsUnknown(@TempDir Path folder) {
        assertThat(DiskSpace.usable(folder)).isPositive().isLessThan(Long.MAX_VALUE);
        assertThat(DiskSpace.usable(folder.resolve("missing"))).isEqualTo(Long.MAX_VALUE);
    }
}
