// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.counters;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Statistics from the program {@code ethtool}, which any user may run. Stateless.
 *
 * @param programs its possible names; the first that starts is used
 */
public record Ethtool(List<String> programs) implements NetworkStatistics {
  /** The reason when there is no such program. */
  public static final String MISSING = "ethtool is not installed";

  private static final String LATE = "ethtool gave no answer";
  private static final long LIMIT_MS = 2_000;
  private static final Pattern LINE = Pattern.compile("\\s*(\\S.*?)\\s*:\\s*(\\d{1,18})");
  private static final Pattern PAUSE = Pattern.compile("pause|pfc|xoff|ppp\\d");

  /** Durations, and frames that end a pause. */
  private static final Pattern NO_FRAMES = Pattern.compile("xon|duration|transition|storm|us_");

  /** The program of this machine. */
  public Ethtool() {
    this(List.of("ethtool", "/usr/sbin/ethtool", "/sbin/ethtool"));
  }

  @Override
  public Answer of(String network) {
    for (String program : programs) {
      try {
        return run(new ProcessBuilder(program, "-S", network).redirectErrorStream(true).start());
      } catch (IOException e) {
        // Not there: the next one.
      }
    }
    return Answer.failed(MISSING);
  }

  private static Answer run(Process process) {
    // Without a limit a driver that hangs would hold the caller.
    CompletableFuture<Process> end = process.onExit().orTimeout(LIMIT_MS, TimeUnit.MILLISECONDS);
    // Only then: it closes the output also of a process that has ended, while it is read.
    end.exceptionally(late -> process.destroyForcibly());
    try (var output = process.getInputStream()) {
      String text = new String(output.readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() == 0) {
        return new Answer(parse(text), "");
      }
      return Answer.failed(end.isCompletedExceptionally() ? LATE : "ethtool: " + text.strip());
    } catch (IOException e) {
      return Answer.failed(end.isCompletedExceptionally() ? LATE : "ethtool: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Answer.failed("ethtool was interrupted");
    }
  }

  /** Names and values of its output. */
  static Map<String, Long> parse(String text) {
    Map<String, Long> values = new TreeMap<>();
    text.lines()
        .map(LINE::matcher)
        .filter(Matcher::matches)
        .forEach(line -> values.put(line.group(1), Long.parseLong(line.group(2))));
    return values;
  }

  /**
   * Whether a statistic counts pause frames: {@code rx_prio3_pause} of mlx5, {@code
   * rx_priority_3_xoff.nic} of ice, {@code rx_pfc_ena_frames_pri3} of bnxt_en, {@code
   * mac_rx_pfc_pri3_pkt_num} of hns3.
   */
  static boolean countsPauses(String statistic) {
    String name = statistic.toLowerCase(Locale.ROOT);
    return PAUSE.matcher(name).find() && !NO_FRAMES.matcher(name).find();
  }
}
