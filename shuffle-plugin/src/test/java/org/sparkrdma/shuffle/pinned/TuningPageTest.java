// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

/**
 * Computes the examples of docs/tuning.md: executors of 8 GiB on hosts with 64 GiB and 16 cores.
 */
class TuningPageTest {
  private static final Map<String, String> MASTERS =
      Map.of("standalone", "spark://h:7077", "YARN", "yarn", "Kubernetes", "k8s://https://h");
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| (standalone|YARN|Kubernetes)[^|]* \\|.*$");
  private static final Pattern SHARED_CONTAINER =
      Pattern.compile("standalone, container of (\\d+) GiB");
  private static final int CELLS = 4;
  private static final int OVERHEAD = 1;
  private static final int MEMLOCK = 2;
  private static final int RESULT = 3;
  private static final long MIB = 1L << 20;
  private static final long HOST_BYTES = 64L << 30;
  private static final long HEAP_BYTES = 8L << 30;
  private static final int HOST_CORES = 16;
  private static final int EXECUTOR_CORES = 4;
  private static final long PAGE_BYTES = 4_096;

  @Test
  void shouldShowTheLimitsThatThePlugInDerives() throws IOException {
    List<String> rows = rows();
    assertThat(rows).hasSizeGreaterThan(4);
    for (String row : rows) {
      assertThat(derived(row) / MIB + " MiB").as(row).isEqualTo(cells(row)[RESULT]);
    }
  }

  private static List<String> rows() throws IOException {
    Matcher rows = ROW.matcher(Files.readString(Path.of("..", "docs", "tuning.md")));
    return rows.results().map(row -> row.group()).toList();
  }

  private static String[] cells(String row) {
    String[] cells = row.substring(2, row.length() - 2).split(" \\| ", -1);
    assertThat(cells).as(row).hasSize(CELLS);
    return cells;
  }

  private static long derived(String row) {
    String[] cells = cells(row);
    String manager = cells[0].replaceFirst(",.*", "");
    boolean pod = manager.equals("Kubernetes");
    SparkConf conf =
        new SparkConf(false)
            .set("spark.master", MASTERS.get(manager))
            .set("spark.executor.memory", "8g")
            .set("spark.executor.cores", Integer.toString(EXECUTOR_CORES));
    if (!cells[OVERHEAD].equals("default")) {
      conf.set("spark.executor.memoryOverhead", cells[OVERHEAD]);
    }
    SparkMemory spark = SparkMemory.of(key -> conf.get(key, null));
    long podMib = spark.totalBytes() / MIB;
    Matcher shared = SHARED_CONTAINER.matcher(cells[0]);
    long container =
        shared.matches() ? Long.parseLong(shared.group(1)) << 30 : pod ? podMib * MIB : HOST_BYTES;
    MachineMemory machine =
        new MachineMemory(
            container,
            container < HOST_BYTES,
            cells[MEMLOCK].equals("unlimited")
                ? OptionalLong.empty()
                : OptionalLong.of(Long.parseLong(cells[MEMLOCK].replace(" MiB", "")) * MIB),
            HEAP_BYTES,
            PAGE_BYTES,
            pod ? EXECUTOR_CORES : HOST_CORES);
    return PinnedLimit.of(Optional.empty(), machine, spark, true).bytes();
  }
}
