// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bytes that the disk of map outputs writes because they are served, and the time of serving, on a
 * kernel that pins file pages for writing and on one that does not ({@link DirtyPagesIT}). The disk
 * is in memory; then its writes take longer (dm-delay).
 */
@Tag("nightly")
@Isolated("It takes both processors.")
@Timeout(300)
final class ServedWritesIT {
  private static final String TESTS = "org.sparkrdma.shuffle.transport.ServedWrites";
  private static final String FIGURES = "served writes: ";

  @ParameterizedTest
  @ValueSource(strings = {"6.1", "6.12"})
  void shouldWriteServedMapOutputsOnceByDefault(String kernel) throws Exception {
    Guest guest =
        GuestTests.guest("rocev2", Duration.ofMinutes(4))
            .kernel(kernel)
            .kernelOptions("kernel.matrix.config");

    GuestResult result =
        GuestTests.result(
            guest, GuestTests.classPathOfPlugin(), List.of("-Dtest.engine=ibverbs"), TESTS);

    result.node(1).lines().stream()
        .filter(line -> line.startsWith(FIGURES))
        .forEach(System.out::println);
    JsonNode summary = GuestTests.summary(guest, result, TESTS);
    assertThat(summary.path("kernel").asText()).startsWith(kernel + ".");
    assertThat(summary.path("passed").asInt()).as("%s", summary).isEqualTo(1);
  }
}
