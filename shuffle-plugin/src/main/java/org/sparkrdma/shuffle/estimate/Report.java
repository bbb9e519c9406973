// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The estimates of all logs, the best first. Names are those of the JSON.
 *
 * @param schema version of the names
 * @param costs where the costs of transfers are from
 * @param link as the user has written it; null if it was not given
 * @param notRead why files are no logs, by path
 */
public record Report(
    int schema,
    String costs,
    String link,
    List<Estimation> applications,
    Map<String, String> notRead) {
  private static final String LEGEND =
      """

      low, likely, high: the part of the time of jobs that could be saved
      blocks, mean: blocks that Spark has fetched together, as a batch, count as one
      waiting: the part of their time that tasks wait for blocks of other executors
      """;

  /** All of it for people. */
  public String text() {
    List<String> lines = new ArrayList<>();
    lines.add(row("low", "likely", "high", "time", "remote", "blocks", "mean", "waiting"));
    for (Estimation one : applications) {
      String title = one.id() + (one.attempt().isEmpty() ? "" : " attempt " + one.attempt());
      lines.add("\n" + title + " " + one.name() + ", Spark " + one.sparkVersion());
      lines.add(
          row(
              percent(one.low()),
              percent(one.likely()),
              percent(one.high()),
              decimal(one.seconds(), "s"),
              bytes(one.remoteBytes()),
              one.remoteBlocks(),
              decimal(one.meanBlockBytes() / 1_024, "KiB"),
              percent(one.fetchWaitShare())));
      lines.add("  " + one.why());
      if (one.verdict() != Estimation.Verdict.NONE && one.remoteBlocks() > 0) {
        String files = decimal(one.savedCpuSecondsRegistered(), "core-seconds");
        String copies = decimal(one.savedCpuSecondsCopies(), "core-seconds");
        String floor = percent(one.networkFloor());
        lines.add("  waiting: at most " + percent(one.waitingAtMost()) + " of the time");
        lines.add("  CPU time: " + files + " with registered files, " + copies + " with copies");
        lines.add("  network: " + (link == null ? "unknown without --link" : "needs " + floor));
      }
      one.notes().forEach(note -> lines.add("  note: " + note));
      lines.add("  log: " + one.log());
    }
    notRead.forEach((log, why) -> lines.add("\nnot read: " + log + ": " + why));
    lines.add(LEGEND + "costs of transfers: " + costs);
    return String.join("\n", lines);
  }

  private static String row(Object... cells) {
    return String.format(Locale.ROOT, "%7s %7s %7s %11s %10s %10s %10s %9s", cells);
  }

  /** An amount of data, in decimal units as links have them. */
  static String bytes(long bytes) {
    double mb = bytes / 1e6;
    return mb < 1_000 ? decimal(mb, "MB") : decimal(mb / 1_000, "GB");
  }

  /**
   * @param part null if it is not known
   */
  static String percent(Double part) {
    return part == null ? "-" : decimal(100 * part, "%");
  }

  static String decimal(double number, String unit) {
    // Not "-0.0".
    return String.format(Locale.ROOT, "%.1f %s", Math.round(10 * number) / 10.0, unit);
  }
}
