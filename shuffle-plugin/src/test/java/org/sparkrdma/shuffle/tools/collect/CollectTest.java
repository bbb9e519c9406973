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
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

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
  void shouldDescribeEachCardAndTheSystemWithoutAddressesAndSecrets() throws IOException {
    Path zip = root.resolve("a.zip");
    write(zip);
    try (ZipFile file = new ZipFile(zip.toFile())) {
      assertThat(file.stream().map(ZipEntry::getName))
          .containsExactly(
              "doctor.json",
              "devices.json",
              "settings.txt",
              "system.txt",
              "sysfs/mlx5_0.txt",
              "sysfs/mlx5_1.txt");
    }
    assertThat(entry(zip, "doctor.json")).isEqualTo("checks of this-host");
    assertThat(entry(zip, "settings.txt")).isEqualTo("spark.shuffle.rdma.mode=auto\n");
    assertThat(entry(zip, "system.txt"))
        .contains("osrelease: 6.12.117", "module: mlx5_ib", "module: ib_core")
        .doesNotContain("ext4", "hunter2");
    String card = entry(zip, "sysfs/mlx5_0.txt");
    assertThat(card)
        .contains("mlx5_0/fw_ver: 16.35.2000", "node_desc: this-host mlx5_0")
        .contains("mlx5_0/device/vendor: 0x15b3", "ports/1/state: 1: DOWN", "ndevs/1: eth1")
        .contains("counters/port_xmit_data: 4711", "hw_counters/out_of_sequence: 0")
        .containsPattern("gids/0: link-local-\\d\n")
        .containsPattern("gids/1: ipv4-mapped-\\d\n")
        .containsPattern("node_guid: address-\\d\n")
        .doesNotContain("gids/2", "config", "12f4", "0a63", "node17");
    assertThat(gid(card)).isEqualTo(gid(entry(zip, "sysfs/mlx5_1.txt")));
  }

  /** Equal addresses have equal names. */
  private static String gid(String card) {
    return card.lines()
        .filter(line -> line.contains("/gids/0: "))
        .findFirst()
        .orElseThrow()
        .replaceFirst(".*gids", "");
  }

  private void write(Path zip) throws IOException {
    SparkSettings spark =
        new SparkSettings(
            Map.of(
                "spark.shuffle.rdma.mode", "auto",
                "spark.shuffle.rdma.secret", "hunter2",
                "spark.authenticate.secret", "hunter2"));
    CardArchive.write(zip, files, spark, "checks of node17", "devices");
  }

  @Test
  void shouldKeepTheTextsOfManyEntriesBounded() throws IOException {
    for (int i = 0; i < 3_000; i++) {
      file(CLASS + "mlx5_0/ports/1/hw_counters/counter" + i, "x".repeat(1_000));
    }
    Path zip = root.resolve("a.zip");
    write(zip);
    String card = entry(zip, "sysfs/mlx5_0.txt");
    assertThat(card).containsPattern("left out: 10\\d\\d lines\n$");
    assertThat(card.length()).isLessThan(2_001 * 400);
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
  void shouldRefuseAFileThatExistsAndAFolderThatDoesNot() throws IOException {
    Path zip = root.resolve("a.zip");
    Files.writeString(zip, "mine");
    assertThatThrownBy(() -> write(zip)).isInstanceOf(FileAlreadyExistsException.class);
    assertThat(zip).hasContent("mine");
    assertThatThrownBy(() -> write(root.resolve("none/a.zip")))
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
