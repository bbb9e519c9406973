// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WritePinsTest {
  @TempDir private Path root;

  @ParameterizedTest
  @CsvSource({
    "6.1.192, nfs4, true",
    "6.1.0-44-amd64, nfs, true",
    "5.14.0-570.el9.x86_64, nfs4, true",
    "6.2.0, nfs4, false",
    "6.12.117, nfs4, false",
    "10.0.1, nfs4, false",
    "7.0, nfs, false",
    "6.1.192, ext4, true",
    "5.15.0-91-generic, overlay, true",
    "6.2.0, ext4, false",
    "6.1.192, tmpfs, false",
    "6.1.192, ramfs, false",
    "unknown, nfs4, false"
  })
  void shouldObjectToDisksOnKernelsThatPinForWriting(
      String release, String fileSystem, boolean expected) throws IOException {
    WritePins pins = pins(release, "22 1 0:18 / / rw - " + fileSystem + " server:/export rw");
    assertThat(pins.objection(Path.of("/data")).isPresent()).isEqualTo(expected);
  }

  @Test
  void shouldFindNfsBelowAnAutomount() throws IOException {
    WritePins pins =
        pins(
            "6.1.192",
            "22 1 0:18 / / rw - tmpfs none rw",
            "30 22 0:40 / /shared rw - autofs systemd-1 rw,fd=50",
            "31 30 0:41 / /shared rw - nfs4 server:/export rw,vers=4.2");
    assertThat(pins.objection(Path.of("/shared/b")))
        .contains("Linux 6.1.192 would write registered files of nfs4 again");
    assertThat(pins.objection(Path.of("/shares"))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "/a\\040b, /a b",
    "/a\\011b, '/a\tb'",
    "/a\\012b, '/a\nb'",
    "/a\\134b, /a\\b",
    "/a\\134040b, /a\\040b",
    "/\u00c3\u00a9, /\u00e9"
  })
  void shouldDecodeThePathsOfMounts(String written, String path) throws IOException {
    WritePins pins = pins("6.1.192", "31 22 0:41 / " + written + " rw - nfs server:/export rw");
    assertThat(pins.objection(Path.of(path, "c"))).isPresent();
  }

  private WritePins pins(String release, String... mounts) throws IOException {
    write("proc/sys/kernel/osrelease", release + "\n");
    String text = String.join("\n", mounts) + "\n";
    Path file = root.resolve("proc/self/mountinfo");
    Files.createDirectories(file.getParent());
    Files.write(file, text.getBytes(StandardCharsets.ISO_8859_1));
    return WritePins.of(new SystemFiles(root));
  }

  private void write(String file, String text) throws IOException {
    Files.createDirectories(root.resolve(file).getParent());
    Files.writeString(root.resolve(file), text);
  }
}
