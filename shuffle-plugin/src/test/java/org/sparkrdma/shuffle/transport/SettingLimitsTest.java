// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.VerbsException;

/**
 * Pairs and triples of settings at their limits. Either the driver or the start of the transport
 * refuses them with a sentence that names a key, or blocks come by READ: no accepted value disables
 * RDMA silently.
 */
@Tag("slow")
@Timeout(180)
class SettingLimitsTest {
  private static final String PREFIX = "spark.shuffle.rdma.";
  private static final int DRAWS = 40;

  /** Time-outs at their minimum must not pass because this machine is busy. */
  private static final int SLOWER = 1_000;

  /** Smallest and largest allowed values; large lengths are limited by the memory of a build. */
  private static final Map<String, List<String>> LIMITS =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("pinned.max", List.of("1m", "16t")),
              Map.entry("serve", List.of("copy", "window")),
              Map.entry("reads.bytes.max", List.of("8k", "16t")),
              Map.entry("pool.max", List.of("64k", "16t")),
              Map.entry("request.timeout", List.of("10ms", "30m")),
              Map.entry("idle.timeout", List.of("100ms", "1d")),
              Map.entry("connections.max", List.of("1", "65536")),
              // Shorter ones depend on this machine, because the engine has a clock of its own.
              Map.entry("connect.timeout", List.of("2s", "10m"))));

  private static final List<BlockRange> BLOCKS =
      List.of(
          new BlockRange(0, 1, 0, 1),
          new BlockRange(0, 1, 1, 2),
          new BlockRange(0, 2, 0, 2),
          new BlockRange(0, 3, 0, 1));

  @TempDir private Path directory;
  private int draws;
  private int refused;

  @Test
  void shouldRefuseSettingsOrReadBlocks() throws Exception {
    Random random = new Random(20261126);
    List<String> silent = new ArrayList<>();
    while (draws < DRAWS) {
      tryWith(draw(random)).ifPresent(silent::add);
    }
    System.out.printf("settings at their limits: draws=%d refused=%d%n", draws, refused);
    assertThat(silent).as("accepted, and blocks came by TCP").isEmpty();
  }

  private static Map<String, String> draw(Random random) {
    List<String> keys = new ArrayList<>(LIMITS.keySet());
    Map<String, String> drawn = new TreeMap<>();
    int count = 2 + random.nextInt(2);
    while (drawn.size() < count) {
      String key = keys.get(random.nextInt(keys.size()));
      List<String> values = LIMITS.get(key);
      drawn.put(key, values.get(random.nextInt(values.size())));
    }
    return drawn;
  }

  /** Returns a sentence when the settings are accepted and blocks come by TCP. */
  private Optional<String> tryWith(Map<String, String> drawn) throws Exception {
    draws++;
    Map<String, String> keys = new TreeMap<>();
    drawn.forEach((name, value) -> keys.put(PREFIX + name, value));
    keys.put(PREFIX + "fabric.trusted", Boolean.toString(TestEngine.needsTrust()));
    ShuffleSettings settings;
    try {
      settings = ShuffleSettings.of(keys);
    } catch (IllegalArgumentException e) {
      refused++;
      return e.getMessage().contains(PREFIX) ? Optional.empty() : Optional.of(drawn + ": " + e);
    }
    Path own = Files.createDirectory(directory.resolve("draw-" + draws));
    try (TestExecutor server = start(settings, own, 1);
        TestExecutor reader = start(settings, own, 2)) {
      server.outputs().write(1, new Random(1), 700, 900);
      server.outputs().write(2, new Random(2), 500, 800);
      server.outputs().write(3, new Random(3), 1_000);
      CollectedBlocks first = TransportFixture.fetch(reader, server, BLOCKS);
      CollectedBlocks blocks =
          first.reasons().isEmpty() ? first : TransportFixture.fetch(reader, server, BLOCKS);
      for (int i = 0; i < BLOCKS.size(); i++) {
        if (!blocks.failed(i)) {
          assertThat(blocks.bytes(i)).isEqualTo(server.outputs().expected(BLOCKS.get(i)));
        }
      }
      return blocks.reasons().isEmpty()
          ? Optional.empty()
          : Optional.of(drawn + ": " + blocks.reasons());
    } catch (VerbsException e) {
      refused++;
      return e.getMessage().contains(PREFIX) ? Optional.empty() : Optional.of(drawn + ": " + e);
    }
  }

  private static TestExecutor start(ShuffleSettings settings, Path directory, long incarnation)
      throws Exception {
    return new TestExecutor(
        Files.createDirectory(directory.resolve("executor-" + incarnation)),
        new TestExecutor.Options(incarnation)
            .settings(settings)
            .nanoClock(() -> System.nanoTime() / SLOWER));
  }
}
