// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.executors.ProcessFiles;

/**
 * Block counts of a run by application, written by its executors ({@link ReadCounts}).
 *
 * @param byApplication blocks of each application
 */
record TransferLog(Map<String, Blocks> byApplication) {
  /** Environment variable of all processes of a run that names the directory. */
  static final String VARIABLE = "IT_TRANSFERS";

  /**
   * Blocks of an application, or of several.
   *
   * @param byTcp through our client
   * @param remote all that came from other executors by Spark's own metrics, of tasks that ended
   */
  record Blocks(long byRead, long byTcp, long remote) {
    private static final Blocks NONE = new Blocks(0, 0, 0);

    /** Numbers as {@link ReadCounts} writes them; an executor does not write the last one. */
    private static Blocks parse(String text) {
      String[] counts = text.split(" ", 3);
      return new Blocks(
          Long.parseLong(counts[0]),
          Long.parseLong(counts[1]),
          counts.length > 2 ? Long.parseLong(counts[2]) : 0);
    }

    private Blocks plus(Blocks other) {
      return new Blocks(byRead + other.byRead, byTcp + other.byTcp, remote + other.remote);
    }
  }

  static TransferLog read(Path directory) throws IOException {
    Map<String, Blocks> byApplication = new TreeMap<>();
    new ProcessFiles(directory)
        .read()
        .forEach(
            (process, text) ->
                byApplication.merge(process.application(), Blocks.parse(text), Blocks::plus));
    return new TransferLog(byApplication);
  }

  Blocks total() {
    return byApplication.values().stream().reduce(Blocks.NONE, Blocks::plus);
  }

  /**
   * Differences from the expected transfer, one sentence each.
   *
   * @param setting the shuffle that the suite ran under
   * @param readsRemote whether the suite has tests on clusters that fetch remote blocks
   */
  List<String> objections(Setting setting, boolean readsRemote) {
    List<String> objections = new ArrayList<>();
    if (setting == Setting.FALLBACK && total().byRead() > 0) {
      objections.add("blocks came by READ without a device: " + total());
    }
    if (setting.byRdma()) {
      byApplication.forEach(
          (application, blocks) -> {
            // Remote blocks that neither READ nor our client has fetched came by Spark's reader.
            if (blocks.byRead() == 0 && (blocks.byTcp() > 0 || blocks.remote() > 0)) {
              objections.add("no block came by READ: application=" + application + " " + blocks);
            }
          });
      if (readsRemote != (total().byRead() > 0)) {
        objections.add(
            "expected "
                + (readsRemote ? "blocks by READ" : "a suite without remote blocks")
                + ": "
                + total());
      }
    }
    return objections;
  }
}
