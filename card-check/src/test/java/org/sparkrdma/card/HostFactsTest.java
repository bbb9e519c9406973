// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortState;

class HostFactsTest {
  private static final DeviceInfo CARD = FakeDevices.device("mlx5_0", PortState.ACTIVE);

  @TempDir private Path root;

  @Test
  void shouldReadVersionAndDriver() throws Exception {
    HostFacts facts = new HostFacts(root);
    assertThat(facts.driver(CARD)).isEqualTo("unknown");
    assertThat(facts.rdmaCore()).isEqualTo("unknown");
    Path process = Files.createDirectories(root.resolve("proc/self"));
    Files.writeString(
        process.resolve("maps"),
        "7f00-7f01 r-xp 00000000 00:00 1    /usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0\n");
    Path function = Files.createDirectories(root.resolve("sys/class/infiniband/mlx5_0/device"));
    Path driver = Files.createDirectories(root.resolve("sys/bus/pci/drivers/mlx5_core"));
    Files.createSymbolicLink(function.resolve("driver"), driver);
    assertThat(facts.rdmaCore()).isEqualTo("44.0");
    assertThat(facts.driver(CARD)).isEqualTo("mlx5_core");
  }
}
