// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.Refusal;
import org.sparkrdma.launch.ScriptHelp;

@Timeout(60)
class JobCommandTest {
  @TempDir private Path directory;

  @Test
  void shouldHaveEveryOptionInTheHelpOfTheScript() throws Exception {
    ScriptHelp.assertExplains("bench groupby", JobCommand.commandLine(), "default "::concat);
  }

  @Test
  void shouldRefuseWrongValues() {
    assertThat(refusal("groupby", "--rounds", "0"))
        .isEqualTo("--rounds is '0': give a whole number from 1 to 1000");
    assertThat(refusal("groupby", "--warm-ups", "2000000000"))
        .isEqualTo("--warm-ups is '2000000000': give a whole number from 0 to 1000");
    assertThat(refusal("groupby", "--shapes", "1x1"))
        .isEqualTo(
            "shape of groupby: '1x1' has 2 parts instead of 3;"
                + " write it as MAPSxREDUCERSxBLOCK, such as 256x256x4k");
    assertThat(refusal("groupby", "--modes", "fast"))
        .contains("expected one of [vanilla, control, tuned, rdma, fallback]", "'fast'");
    assertThat(refusal("groupby", "--threads", "0"))
        .isEqualTo("--threads is '0': give a whole number from 1 to 256");
    assertThat(refusal("groupby", "--report", directory.toString()))
        .isEqualTo("--report names a directory: " + directory);
    assertThat(Refusal.of(ShuffleBenchmark.commandLine(), "sort"))
        .contains("expected one of [groupby, terasort, pagerank, ", "'sort'");
    assertThat(Refusal.of(ShuffleBenchmark.commandLine(), "tpch")).startsWith("tpch needs --data");
  }

  private String refusal(String job, String... arguments) {
    String[] line = line(job, arguments);
    return Refusal.of(JobCommand.commandLine(line), line);
  }

  private String[] line(String job, String... arguments) {
    List<String> all = new ArrayList<>(List.of("--project", directory.toString()));
    all.addAll(List.of("--work-dir", directory.toString(), job));
    all.addAll(List.of(arguments));
    return all.toArray(new String[0]);
  }
}
