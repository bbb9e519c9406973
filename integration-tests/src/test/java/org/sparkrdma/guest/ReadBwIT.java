// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * The command {@code perf} beside {@code ib_read_bw}, between two kernels in one run. Speed is
 * measured and printed, not asserted.
 */
@Isolated("It takes both processors.")
@Tag("nightly")
@Timeout(500)
final class ReadBwIT {
  private static final int ROUNDS = 3;
  private static final List<Integer> SIZES = List.of(4_096, 65_536, 1_048_576);
  private static final double MIB = 1 << 20;

  @TempDir private Path shared;

  @Test
  void shouldReadBesideIbReadBw() throws Exception {
    Files.writeString(
        shared.resolve("spark-defaults.conf"), "spark.shuffle.rdma.engine ibverbs\n", UTF_8);
    String script;
    try (var resource = ReadBwIT.class.getResourceAsStream("/guest/read-bw.sh")) {
      script = new String(resource.readAllBytes(), UTF_8);
    }
    String java = GuestJdk.home() + "/bin/java " + GuestJdk.START_SOON + " -jar ";
    GuestResult result =
        Guest.nodes(2)
            .memory("1G")
            .timeout(Duration.ofSeconds(450))
            .with("--transport", "rocev2")
            .with("--share", shared.toString())
            .bash("PLUGIN='" + java + Build.property("it.plugin.jar") + "'\n" + script);

    assertThat(result.exitCode()).as(result.output()).isZero();
    Map<String, List<Double>> speeds = ofIbReadBw(result.node(1).lines());
    for (int round = 1; round <= ROUNDS; round++) {
      JsonNode report =
          new ObjectMapper().readTree(shared.resolve("perf." + round + ".json").toFile());
      for (JsonNode row : report.path("rows")) {
        add(
            speeds,
            row.path("bytes").asInt() + " perf",
            row.path("read").path("bytesPerSecond").asDouble() / MIB);
      }
    }
    System.out.println("READ, MiB/s, each round: perf, ib_read_bw -e, ib_read_bw");
    for (int size : SIZES) {
      for (String program : List.of(" perf", " -e", " polls")) {
        List<Double> rounds = speeds.get(size + program);
        assertThat(rounds).as(size + program).hasSize(ROUNDS).allMatch(speed -> speed > 0);
        System.out.printf("%8d%-6s %s%n", size, program, rounds.stream().map(Math::round).toList());
      }
    }
  }

  /** MiB/s by size and mode, from the time that more READs take. */
  private static Map<String, List<Double>> ofIbReadBw(List<String> lines) {
    Map<String, List<Double>> speeds = new TreeMap<>();
    String[] few = null;
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      if (words.length == 5 && words[0].equals("ib")) {
        if (few == null) {
          few = words;
        } else {
          double bytes = Double.parseDouble(words[1]) * (number(words[2]) - number(few[2]));
          double seconds = (number(words[4]) - number(few[4])) / 1e6;
          add(speeds, words[1] + " " + words[3], bytes / MIB / seconds);
          few = null;
        }
      }
    }
    return speeds;
  }

  private static long number(String word) {
    return Long.parseLong(word);
  }

  private static void add(Map<String, List<Double>> speeds, String name, double speed) {
    speeds.computeIfAbsent(name, key -> new ArrayList<>()).add(speed);
  }
}
