// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NumaNodeTest {
  @TempDir private Path root;

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "0-1, 1, 1",
        "0-1, 0, 0",
        "'0,2-3', 3, 3",
        "0, 0, -1",
        "0-1, -1, -1",
        "0-1, none, -1",
        "none, none, -1",
        "0-1, x, -1"
      })
  void shouldNameTheNodeOfADeviceOnAHostWithSeveral(String online, String ofDevice, int expected)
      throws Exception {
    write("sys/devices/system/node/online", online);
    write("sys/class/infiniband/mlx5_0/device/numa_node", ofDevice);

    assertThat(NumaNode.of(root, "mlx5_0")).isEqualTo(expected);
  }

  private void write(String file, String text) throws Exception {
    if (text != null) {
      Files.createDirectories(root.resolve(file).getParent());
      Files.writeString(root.resolve(file), text + "\n");
    }
  }
}
