// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.collect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/** The archive of a machine with two cards, from a directory with files like theirs. */
class CollectTest {
  private static final String CLASS = "sys/class/infiniband/";

  @TempDir private Path root;
  private SystemFiles files;

  @BeforeEach
  void create() throws IOException {
    files = new SystemFiles(root);
    file("proc/sys/kernel/hostname", "node17.example.org");
    file("proc/sys/kernel/osrelease", "6.12.117");
    file("proc/modules", "mlx5_ib 1 0 - Live 0x0\next4 1 0 - Live 0x0\nib_core 1 0 - Live 0x0");
    file("proc/self/environ", "SECRET=hunter2");
    for (String device : new String[] {"mlx5_0", "mlx5_1"}) {
      file(CLASS + device + "/fw_ver", "16.35.2000");
      file(CLASS + device + "/node_guid", "0c42:a103:0065:12f4");
      file(CLASS + device + "/node_desc", "node17 " + device);
      file(CLASS + device + "/device/vendor", "0x15b3");
      file(CLASS + device + "/device/config", "not read");
      String port = CLASS + device + "/ports/1/";
      file(port + "state", device.equals("mlx5_0") ? "1: DOWN" : "4: ACTIVE");
      file(port + "gids/0", "fe80:0000:0000:0000:0e42:a1ff:fe65:12f4");
      file(port + "gids/1", "0000:0000:0000:0000:0000:ffff:0a63:0101");
      file(port + "gids/2", "0000:0000:0000:0000:0000:0000:0000:0000");
      file(port + "gid_attrs/ndevs/1", "eth1");
      file(port + "counters/port_xmit_data", "4711");
      file(port + "hw_counters/out_of_sequence", "0");
    }
    file("sys/class/net/eth1/mtu", "9000");
    file("sys/class/net/eth1/address", "0c:42:a1:65:12:f4");
  }

  @Test
  void shouldDescribeEachCardAndTheSystem() {
    Map<String, String> texts = new CardFiles(files).texts();
    assertThat(texts).containsOnlyKeys("system.txt", "sysfs/mlx5_0.txt", "sysfs/mlx5_1.txt");
    assertThat(texts.get("system.txt"))
        .contains("osrelease: 6.12.117", "module: mlx5_ib", "module: ib_core")
        .doesNotContain("ext4", "hunter2");
    assertThat(texts.get("sysfs/mlx5_0.txt"))
        .contains(
            "mlx5_0/fw_ver: 16.35.2000",
            "mlx5_0/device/vendor: 0x15b3",
            "ports/1/state: 1: DOWN",
            "gid_attrs/ndevs/1: eth1",
            "sys/class/net/eth1/mtu: 9000")
        .doesNotContain("gids/2", "config", "0c:42:a1", "4711");
    assertThat(texts.get("sysfs/mlx5_1.txt")).contains("ports/1/state: 4: ACTIVE");
    assertThat(new CardFiles(files).counters())
        .isEqualTo(
            """
            sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data: 4711
            sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence: 0
            sys/class/infiniband/mlx5_1/ports/1/counters/port_xmit_data: 4711
            sys/class/infiniband/mlx5_1/ports/1/hw_counters/out_of_sequence: 0
            """);
  }

  @Test
  void shouldKeepTheTextsOfManyEntriesBounded() throws IOException {
    for (int i = 0; i < 3_000; i++) {
      file(CLASS + "mlx5_0/ports/1/hw_counters/counter" + i, "x".repeat(1_000));
    }
    String counters = new CardFiles(files).counters();
    assertThat(counters).endsWith("left out: 1004 lines\n");
    assertThat(counters.length()).isLessThan(2_001 * 400);
  }

  @Test
  void shouldPackTextsWithoutAddressesAndNamesOfTheHost() throws IOException {
    Path zip = root.resolve("a.zip");
    try (Archive archive = Archive.create(zip, new AddressMask(files))) {
      assertThat(archive.write(new CardFiles(files).texts()))
          .hasSize(3)
          .first()
          .asString()
          .matches("system.txt \\d+ bytes");
    }
    String card = entry(zip, "sysfs/mlx5_0.txt");
    assertThat(card)
        .contains("fw_ver: 16.35.2000", "node_desc: this-host mlx5_0")
        .containsPattern("gids/0: link-local-\\d\n")
        .containsPattern("gids/1: ipv4-mapped-\\d\n")
        .containsPattern("node_guid: address-\\d\n")
        .doesNotContain("12f4", "0a63", "node17");
    assertThat(card.lines().filter(line -> line.contains("gids/0")).findFirst())
        .isEqualTo(
            entry(zip, "sysfs/mlx5_1.txt")
                .lines()
                .filter(line -> line.contains("gids/0"))
                .map(line -> line.replace("mlx5_1", "mlx5_0"))
                .findFirst());
  }

  @Test
  void shouldPackAddressesWhenAsked() throws IOException {
    Path zip = root.resolve("a.zip");
    try (Archive archive = Archive.create(zip, null)) {
      archive.write(new CardFiles(files).texts());
    }
    assertThat(entry(zip, "sysfs/mlx5_0.txt")).contains("0c42:a103:0065:12f4", "node17 mlx5_0");
  }

  @Test
  void shouldMaskAddressesInSentencesAndKeepVersionsAndTimes() {
    AddressMask mask = new AddressMask(files);
    assertThat(
            mask.mask(
                "at [10.99.1.1/24, fd99:1:0:0:0:0:0:1/64], 2 RoCE v2 10.99.1.1. Peer ::ffff:10.9.8.7,"
                    + " \"0c:42:a1:65:12:f4\" node17.example.org"))
        .isEqualTo(
            "at [address-1/24, address-2/64], 2 RoCE v2 address-1. Peer ipv4-mapped-3,"
                + " \"address-4\" this-host");
    String kept =
        "libibverbs.so.1.14.44.0 6.12.117 Sat Nov 22 03:04:05 UTC [::1] 127.0.0.1:7474 0.0.0.0"
            + " \"check\": \"ports\" state: 4: ACTIVE org.sparkrdma::x 0000:0000:0000:0000";
    assertThat(mask.mask(kept)).isEqualTo(kept);
  }

  @Test
  void shouldLeaveNoFileWhenTheCollectionFails() throws IOException {
    Path zip = root.resolve("a.zip");
    Archive.create(zip, null).close();
    assertThat(zip).doesNotExist();
  }

  @Test
  void shouldRefuseAFileThatExistsAndAFolderThatDoesNot() throws IOException {
    Path zip = root.resolve("a.zip");
    Files.writeString(zip, "mine");
    assertThatThrownBy(() -> Archive.create(zip, null))
        .isInstanceOf(FileAlreadyExistsException.class);
    assertThat(zip).hasContent("mine");
    assertThatThrownBy(() -> Archive.create(root.resolve("none/a.zip"), null))
        .isInstanceOf(NoSuchFileException.class);
  }

  private static String entry(Path zip, String name) throws IOException {
    try (ZipFile file = new ZipFile(zip.toFile())) {
      return new String(
          file.getInputStream(file.getEntry(name)).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void file(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text + "\n");
  }
}
