// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostFilesTest {
  @TempDir private Path root;

  @Test
  void shouldReadVersionAndDriver() throws Exception {
    Path process = Files.createDirectories(root.resolve("proc/self"));
    Files.writeString(
        process.resolve("maps"),
        "7f00-7f01 r-xp 00000000 00:00 1    /usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0\n");
    Path function = Files.createDirectories(root.resolve("sys/class/infiniband/mlx5_0/device"));
    Path driver = Files.createDirectories(root.resolve("sys/bus/pci/drivers/mlx5_core"));
    Files.createSymbolicLink(function.resolve("driver"), driver);

    HostFiles files = HostFiles.under(root);
    assertThat(files.rdmaCore()).isEqualTo("44.0");
    assertThat(files.pciDriver("mlx5_0")).hasValue("mlx5_core");
    assertThat(files.pciDriver("rxe0")).isEmpty();
    assertThat(files.lockableBytes()).isEmpty();
    assertThat(files.kernel()).isEqualTo("unknown");
  }
}
