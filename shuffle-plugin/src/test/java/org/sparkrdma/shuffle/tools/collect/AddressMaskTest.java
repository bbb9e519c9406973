// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.collect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.pinned.SystemFiles;

class AddressMaskTest {
  @TempDir private Path root;

  private AddressMask maskOn(String host) throws IOException {
    Path file = root.resolve("proc/sys/kernel/hostname");
    Files.createDirectories(file.getParent());
    Files.writeString(file, host + "\n");
    return new AddressMask(new SystemFiles(root));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fw_ver: 218.1.224.0",
        "\"firmware\": \"218.1.224.0\"",
        "Linux 5.15.0-3.60.5.1.el8uek.x86_64",
        "6.1.0-25-amd64",
        "5.14.0-427.13.1.el9_4.x86_64",
        "17.0.15+6-Debian-1deb12u1",
        "rdma-core 44.0, Java 17.0.15.1",
        "| card | mlx5_0, bnxt_en, firmware 229.0.154.0 | RoCE |",
        "0.1.0-SNAPSHOT, commit 203abdff12",
        "ab node170",
        "Sends.shouldSend() at SendContract.java:12",
        "pci 0000:3b:00.0",
        "at 10:11:12"
      })
  void shouldKeepVersionsAndPciAddresses(String text) throws IOException {
    assertThat(maskOn("node17").mask(text)).isEqualTo(text);
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
  void shouldReplaceAddresses(String address) throws IOException {
    assertThat(maskOn("node17").mask("at " + address + ", " + address + " end"))
        .doesNotContain(address)
        .matches("at ([a-z-]+-1), \\1 end");
  }

  @ParameterizedTest
  @ValueSource(strings = {"address:192.0.2.7", "::ffff:192.0.2.7"})
  void shouldReplaceAnIpv4AddressBehindAColon(String text) throws IOException {
    assertThat(maskOn("node17").mask(text)).doesNotContain("192.0.2.7");
  }

  @Test
  void shouldReplaceTheNameInsideOfAKernelRelease() throws IOException {
    assertThat(maskOn("node17").mask("6.1.0-node17")).isEqualTo("6.1.0-this-host");
  }

  @Test
  void shouldReplaceTheNameOfTheHostUnlessItIsAWord() throws IOException {
    assertThat(maskOn("node17.example.org").mask("node17 and node17.example.org"))
        .isEqualTo("this-host and this-host");
    assertThat(maskOn("a.example.org").mask("a port of a.example.org"))
        .isEqualTo("a port of this-host");
  }
}
