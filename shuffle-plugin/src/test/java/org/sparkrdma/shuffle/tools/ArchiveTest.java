// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

/** The archive of a machine with two cards, from a directory with files like theirs. */
class ArchiveTest {
  private static final String CLASS = "sys/class/infiniband/";

  @TempDir private Path root;
  private SystemFiles files;

  @BeforeEach
  void create() throws IOException {
    files = new SystemFiles(root);
    file("proc/sys/kernel/hostname", "node17.example.org");
    file("proc/self/environ", "SECRET=hunter2");
    for (String device : new String[] {"mlx5_0", "mlx5_1"}) {
      file(CLASS + device + "/fw_ver", "16.35.2000");
      file(CLASS + device + "/node_guid", "0c42:a103:0065:12f4");
      file(CLASS + device + "/node_desc", "node17 " + device);
      file(CLASS + device + "/device/config", "not read");
      String port = CLASS + device + "/ports/1/";
      file(port + "state", device.equals("mlx5_0") ? "1: DOWN" : "4: ACTIVE");
      file(port + "gids/0", "fe80:0000:0000:0000:0e42:a1ff:fe65:12f4");
      file(port + "gids/1", "0000:0000:0000:0000:0000:ffff:0a63:0101");
      file(port + "gids/2", "0000:0000:0000:0000:0000:0000:0000:0000");
      file(port + "gid_attrs/ndevs/1", "eth1");
      file(port + "counters/port_xmit_data", "4711");
    }
  }

  @Test
  void shouldDescribeEachCardWithoutAddressesAndSecrets() throws IOException {
    Path archive = root.resolve("a.txt");
    write(archive);
    String text = Files.readString(archive);
    assertThat(text)
        .startsWith("doctor\nchecks of this-host\n\ndevices\n")
        .contains("\nsettings\nspark.shuffle.rdma.mode=auto\n\n")
        .contains("mlx5_0/fw_ver: 16.35.2000")
        .contains("mlx5_0/ports/1/state: 1: DOWN", "mlx5_1/ports/1/state: 4: ACTIVE")
        .contains("ndevs/1: eth1", "counters/port_xmit_data: 4711")
        .containsPattern("\"nodeGuid\": 0\\D")
        .doesNotContain("gids/2", "node_desc", "config", "12f4", "0a63", "node17", "hunter2");
    assertThat(
            text.lines()
                .filter(line -> line.contains("/gids/0: "))
                .map(line -> line.replaceFirst(".*: ", ""))
                .distinct())
        .as("equal addresses have equal names")
        .singleElement()
        .asString()
        .matches("address-\\d");
  }

  private void write(Path archive) throws IOException {
    SparkSettings spark =
        new SparkSettings(
            Map.of(
                "spark.shuffle.rdma.mode", "auto",
                "spark.shuffle.rdma.secret", "hunter2",
                "spark.authenticate.secret", "hunter2"));
    Archive.write(archive, files, spark, "checks of node17", "{\"nodeGuid\": 883331462132912500}");
  }

  @Test
  void shouldKeepTheTextOfManyEntriesBounded() throws IOException {
    for (int i = 0; i < 3_000; i++) {
      file(CLASS + "mlx5_0/ports/1/hw_counters/counter" + i, "x".repeat(1_000));
    }
    Path archive = root.resolve("a.txt");
    write(archive);
    assertThat(Files.size(archive)).isLessThan(1_100_000);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "192.0.2.7",
        "fd99:1:0:0:0:0:0:1",
        "008e:90ff:fe5f:364c",
        "2001:db8::7",
        "fe80::506b:4bff:fec3:1",
        "50:6b:4b:c3:00:01",
        "0x506b4bfffec30001"
      })
  void shouldReplaceAddresses(String address) {
    assertThat(new Archive(files).mask("at " + address + ", " + address + " end"))
        .isEqualTo("at address-1, address-1 end");
  }

  private void file(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text + "\n");
  }
}
