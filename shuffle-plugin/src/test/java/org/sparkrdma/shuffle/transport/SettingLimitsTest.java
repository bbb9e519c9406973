// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.VerbsException;

/**
 * Pairs and triples of settings at their limits, in virtual time. Either the driver or the start of
 * the transport refuses them with a sentence that names a key, or blocks come by READ: no accepted
 * value disables RDMA silently.
 */
class SettingLimitsTest extends VirtualFixture {
  private static final int DRAWS = 200;

  /** Smallest and largest allowed values. */
  private static final Map<String, List<String>> LIMITS =
      new TreeMap<>(
          Map.of(
              "pinned.max", List.of("1m", "16t"),
              "serve", List.of("copy", "window"),
              "reads.bytes.max", List.of("8k", "16t"),
              "pool.max", List.of("64k", "16t"),
              "request.timeout", List.of("10ms", "30m"),
              "idle.timeout", List.of("100ms", "1d"),
              "connections.max", List.of("1", "65536"),
              "connect.timeout", List.of("2s", "10m")));

  @Test
  void shouldRefuseSettingsOrReadBlocks() {
    Random random = new Random(20261126);
    int refused = 0;
    for (int i = 0; i < DRAWS; i++) {
      renewFabric();
      String[] drawn = draw(random);
      try {
        VirtualExecutor server = fabric.start(1_000, drawn);
        VirtualExecutor reader = fabric.start(1_000, drawn);
        VirtualFetch first = new VirtualFetch(reader, server.endpoint());
        assertThat(fabric.runUntil(first::isAnswered, 10_000 * MS)).isTrue();
        VirtualFetch next = new VirtualFetch(reader, server.endpoint(), 0, 4, () -> {});
        fabric.runUntil(next::isAnswered, 10_000 * MS);
        assertThat(next.isRead()).as("%s %s", String.join(" ", drawn), next.failures()).isTrue();
      } catch (IllegalArgumentException | VerbsException e) {
        refused++;
        assertThat(e).as(String.join(" ", drawn)).hasMessageContaining("spark.shuffle.rdma.");
      }
    }
    assertThat(refused).as("of %d", DRAWS).isBetween(1, DRAWS / 2);
  }

  private static String[] draw(Random random) {
    List<String> keys = new ArrayList<>(LIMITS.keySet());
    Collections.shuffle(keys, random);
    return keys.subList(0, 2 + random.nextInt(2)).stream()
        .flatMap(key -> Stream.of(key, LIMITS.get(key).get(random.nextInt(2))))
        .toArray(String[]::new);
  }
}
