// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * The script {@code integration-tests/guest/read-loop}: READs between two kernels with the MTU of
 * the wire as a parameter, beside TCP. Speed is printed, because it depends on the load of the
 * host; the cause of the slow READs of {@code siw}, which hands each FPDU of at most the MTU to TCP
 * by itself, is asserted by the number of packets.
 */
@Isolated("It takes both processors.")
@Tag("nightly")
@Timeout(300)
final class ReadLoopIT {
  private static final String SCRIPT =
      Path.of("guest/read-loop").toAbsolutePath().normalize().toString();

  private static final Pattern RESULT =
      Pattern.compile("((?:READ|TCP).*): ([0-9.]+) \\(.*\\), ([0-9]+) packets for each MiB");

  private static final String READ = "READ of 1 MiB, 4 at once";

  @Test
  void shouldReadInFewerPacketsOnIwarpWithALargerMtu() throws Exception {
    int small = run(1_500).get(READ);
    int large = run(9_000).get(READ);

    assertThat(small).isGreaterThanOrEqualTo((1 << 20) / 1_500);
    assertThat(large).isBetween((1 << 20) / 9_000, small / 4);
  }

  /** Packets for each MiB by kind. */
  private static Map<String, Integer> run(int mtu) throws Exception {
    GuestResult result =
        Guest.nodes(2)
            .memory("512M")
            .timeout(Duration.ofMinutes(2))
            .with("--transport", "iwarp")
            .with("--mtu", Integer.toString(mtu))
            .run(SCRIPT);
    result.node(1).lines().forEach(System.out::println);
    assertThat(result.exitCode()).as(result.output()).isZero();
    assertThat(result.node(1).lines().get(0))
        .startsWith("read-loop: siw0, MTU " + mtu + ", Linux ");
    Map<String, Integer> packets = new TreeMap<>();
    for (String line : result.node(1).lines()) {
      Matcher values = RESULT.matcher(line);
      if (values.matches()) {
        assertThat(Double.parseDouble(values.group(2))).as(line).isPositive();
        packets.put(values.group(1), Integer.parseInt(values.group(3)));
      }
    }
    assertThat(packets).as(result.output()).hasSize(4);
    return packets;
  }
}
