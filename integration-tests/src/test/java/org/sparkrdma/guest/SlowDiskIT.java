// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * The plug-in's test of a slow disk on kernel RDMA, with a device whose reads the kernel delays
 * (dm-delay): blocks of other readers in the page cache do not wait for it.
 */
@Tag("nightly")
@Isolated("It takes both processors.")
@Timeout(300)
final class SlowDiskIT {
  private static final String TESTS = "org.sparkrdma.shuffle.transport.SlowDiskTest";
  private static final String FIGURES = "slow disk: ";

  @Test
  void shouldNotDelayWarmBlocksWhileOthersWaitForADelayedDisk() throws Exception {
    Guest guest =
        GuestTests.guest("rocev2", Duration.ofMinutes(4)).kernelOptions("kernel.matrix.config");

    GuestResult result =
        GuestTests.result(
            guest,
            GuestTests.classPathOfPlugin(),
            List.of("-Dtest.engine=ibverbs", "-Dtest.disk=delayed"),
            TESTS);

    result.node(1).lines().stream()
        .filter(line -> line.startsWith(FIGURES))
        .forEach(System.out::println);
    JsonNode summary = GuestTests.summary(guest, result, TESTS);
    assertThat(summary.path("passed").asInt()).as("%s", summary).isEqualTo(2);
  }
}
