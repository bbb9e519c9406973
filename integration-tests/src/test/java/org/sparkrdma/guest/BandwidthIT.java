// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.guest.reads.ReadPairs;

/**
 * READs through the ibverbs engine compared with the same loop in C, on the same device in the same
 * run. Speed is measured, not asserted. For each transport the figures are printed and written
 * beside the guest's output.
 */
@Isolated("It takes both processors.")
@Timeout(400)
final class BandwidthIT {
  private static final int ROUNDS = 31;

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"rocev2", "iwarp"})
  void shouldReadTheSameBytesAsTheSameLoopInC(String transport) throws Exception {
    Path program = CSource.compile("read_loop", directory, "-lrdmacm", "-libverbs");

    GuestResult result =
        Guest.nodes(1)
            .memory("1G")
            .timeout(Duration.ofMinutes(6))
            .with("--transport", transport)
            .bash(
                ("exec 3< <(" + program + " serve $GUEST_ADDRESS); read -r listening <&3; ")
                    // All tiers of the JIT compiler; the contract suite uses only the first.
                    + GuestJava.command("-Xms256m -Xmx256m")
                    + (" " + ReadPairs.class.getName() + " " + program)
                    + (" $GUEST_ADDRESS " + ROUNDS));

    assertThat(result.exitCode()).as(result.output()).isZero();
    var figures = new ReadFigures(result.node(1).lines());
    assertThat(figures.rounds()).as(result.output()).isEqualTo(ROUNDS);
    System.out.printf("%s: C, Java, ratio; medians with quartiles%n%s", transport, figures.table());
    Files.writeString(
        Path.of(Build.property("it.guest.directory"), "performance-" + transport + ".json"),
        figures.json(transport));
    GuestReport.add(
        transport,
        entry ->
            entry
                .put("bandwidthRatio", figures.ratio(ReadPairs.BANDWIDTH))
                .put("latencyRatio", figures.ratio(ReadPairs.LATENCY)));
  }
}
