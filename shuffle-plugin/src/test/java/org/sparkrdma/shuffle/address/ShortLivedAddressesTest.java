// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShortLivedAddressesTest {
  @TempDir private Path directory;

  private Path file(String... lines) throws Exception {
    return Files.write(directory.resolve("if_inet6"), List.of(lines));
  }

  @Test
  void shouldFindTemporaryAndDeprecatedAddresses() throws Exception {
    Path file =
        file(
            "00000000000000000000000000000001 01 80 10 80       lo",
            "fd000001000000000000000000000005 02 40 00 80     eth0",
            "fd000001000000001111222233334444 02 40 00 01     eth0",
            "fd000001000000005555666677778888 02 40 00 21     eth0",
            "fd000001000000000000000000000009 03 80 00 a0 enp5s0f1");

    assertThat(ShortLivedAddresses.of(file))
        .containsExactlyInAnyOrder(
            InetAddress.getByName("fd00:1::1111:2222:3333:4444"),
            InetAddress.getByName("fd00:1::5555:6666:7777:8888"),
            InetAddress.getByName("fd00:1::9"));
  }

  @Test
  void shouldFindNoneWithoutTheFileOrInAnother() throws Exception {
    assertThat(ShortLivedAddresses.of(directory.resolve("none"))).isEmpty();
    assertThat(ShortLivedAddresses.of(file("", "one two three", "x 02 40 00 01 eth0"))).isEmpty();
  }
}
