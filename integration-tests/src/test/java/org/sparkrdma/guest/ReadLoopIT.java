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
 * the wire as a parameter, beside TCP. Speed is printed; only the effect of the MTU is asserted.
 */
@Isolated("It takes both processors.")
@Tag("nightly")
@Timeout(300)
final class ReadLoopIT {
  private static final String SCRIPT =
      Path.of("guest/read-loop").toAbsolutePath().normalize().toString();

  private static final Pattern SPEED = Pattern.compile("((?:READ|TCP).*): ([0-9.]+) \\(.*\\)");

  @Test
  void shouldReadFasterOnIwarpWithALargerMtu() throws Exception {
    Map<String, Double> small = run(1_500);
    Map<String, Double> large = run(9_000);

    assertThat(large.get("READ of 1 MiB, 4 at once"))
        .isGreaterThan(2 * small.get("READ of 1 MiB, 4 at once"));
  }

  /** MiB/s by kind. */
  private static Map<String, Double> run(int mtu) throws Exception {
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
    Map<String, Double> speeds = new TreeMap<>();
    for (String line : result.node(1).lines()) {
      Matcher speed = SPEED.matcher(line);
      if (speed.matches()) {
        speeds.put(speed.group(1), Double.parseDouble(speed.group(2)));
      }
    }
    assertThat(speeds)
        .as(result.output())
        .hasSize(4)
        .allSatisfy((kind, mib) -> assertThat(mib).isPositive());
    return speeds;
  }
}
