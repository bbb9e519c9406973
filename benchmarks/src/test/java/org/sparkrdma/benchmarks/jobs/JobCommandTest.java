// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.benchmarks.jobs.environment.Environment;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleJob;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.launch.Refusal;
import org.sparkrdma.launch.ScriptHelp;
import picocli.CommandLine;

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
        .contains("'fast' is not a shuffle: give names of vanilla, control, ");
    assertThat(refusal("groupby", "--threads", "0"))
        .isEqualTo("--threads is '0': give a whole number from 1 to 256");
    assertThat(refusal("groupby", "--report", directory.toString()))
        .isEqualTo("--report names a directory: " + directory);
    String[] unknown = {"sort"};
    assertThat(Refusal.of(ShuffleBenchmark.commandLine(unknown), unknown))
        .isEqualTo(
            "no job 'sort'; the jobs are groupby, terasort, pagerank, skewjoin, broadcastfree, tpch,"
                + " tpcds");
    String[] withoutData = {"tpch"};
    assertThat(Refusal.of(ShuffleBenchmark.commandLine(withoutData), withoutData))
        .startsWith("tpch needs --data");
  }

  @Test
  void shouldAcceptRightValues() {
    assertThat(check("--modes", "control,rdma", "--threads", "8")).isZero();
    assertThat(check("--report", directory.resolve("a.json").toString())).isZero();
  }

  @Test
  void shouldPrintItsOptionsWhenSubmitted() {
    StringWriter text = new StringWriter();
    CommandLine line = ShuffleBenchmark.commandLine("--help");
    line.setOut(new PrintWriter(text)).execute("--help");
    assertThat(text.toString()).contains("--total-executor-cores", "--data", "--report=FILE");
    String words = text.toString().replaceAll("\\s+", " ");
    for (ShuffleJob each : ShuffleJob.values()) {
      assertThat(words).contains(each + " (");
    }
    assertThat(words).contains("groupby (MAPSxREDUCERSxBLOCK, 256x256x4k,96x96x64k)");
    for (ShuffleMode each : ShuffleMode.values()) {
      assertThat(words).containsPattern("\\b" + each + "\\b");
    }
    assertThat(words)
        .contains("by default vanilla,rdma,fallback;")
        .contains("1 to 1000, by default 3")
        .contains("0 to 1000, by default 1");
  }

  @Test
  void shouldDescribeEachOptionWhenSubmitted() {
    assertThat(ShuffleBenchmark.commandLine().getCommandSpec().args())
        .allSatisfy(each -> assertThat(each.description()).as("%s", each).isNotEmpty());
  }

  @Test
  void shouldReportNoSecretAmongTheSettings() {
    SparkConf conf = new SparkConf(false);
    conf.set("spark.executor.cores", "4");
    conf.set("spark.shuffle.rdma.engine", "soft");
    conf.set("spark.network.crypto.authSecret", "s3cr3t");
    conf.set("spark.executor.extraJavaOptions", "-Dpassword=s3cr3t");
    conf.set("spark.hadoop.fs.s3a.access.key", "s3cr3t");
    conf.set("spark.executorEnv.TOKEN", "s3cr3t");
    assertThat(Environment.reported(conf))
        .containsOnlyKeys("spark.executor.cores", "spark.shuffle.rdma.engine");
  }

  private int check(String... arguments) {
    String[] line = line("groupby", arguments);
    return JobCommand.commandLine(line).execute(line);
  }

  private String refusal(String job, String... arguments) {
    String[] line = line(job, arguments);
    return Refusal.of(JobCommand.commandLine(line), line);
  }

  private String[] line(String job, String... arguments) {
    List<String> all = new ArrayList<>(List.of("--project", directory.toString()));
    all.addAll(List.of("--work-dir", directory.toString(), "--check-only", job));
    all.addAll(List.of(arguments));
    return all.toArray(new String[0]);
  }
}
