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
import org.sparkrdma.launch.ScriptHelp;
import picocli.CommandLine;

@Timeout(60)
class JobCommandTest {
  private static final int MISUSE = 2;

  @TempDir private Path directory;

  @Test
  void shouldHaveEveryOptionInTheHelpOfTheScript() throws Exception {
    ScriptHelp.assertExplains("bench groupby", JobCommand.commandLine(), "default "::concat);
  }

  @Test
  void shouldRefuseWrongValues() {
    assertThat(check("--rounds", "0")).isEqualTo(MISUSE);
    assertThat(check("--shapes", "1x1")).isEqualTo(MISUSE);
    assertThat(check("--modes", "fast")).isEqualTo(MISUSE);
    assertThat(check("--threads", "0")).isEqualTo(MISUSE);
    assertThat(check("--concurrent", "0")).isEqualTo(MISUSE);
    assertThat(check("--concurrent", "2")).isZero();
    assertThat(checkJob("terasort", "--concurrent", "2")).isEqualTo(MISUSE);
    assertThat(check("--modes", "pool-1g,pool-64m", "--threads", "8")).isZero();
    assertThat(check("--report", directory.resolve("a.html").toString())).isEqualTo(MISUSE);
    assertThat(check("--report", directory.toString())).isEqualTo(MISUSE);
    assertThat(check("--report", directory.resolve("a.json").toString())).isZero();
    String[] submitted = {"groupby", "--report", directory.resolve("a.html").toString()};
    assertThat(ShuffleBenchmark.commandLine(submitted).execute(submitted)).isEqualTo(MISUSE);
  }

  @Test
  void shouldPrintItsOptionsWhenSubmitted() {
    StringWriter text = new StringWriter();
    CommandLine line = ShuffleBenchmark.commandLine("--help");
    line.setOut(new PrintWriter(text)).execute("--help");
    assertThat(text.toString()).contains("--total-executor-cores", "--data", "--report=FILE");
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
    return checkJob("groupby", arguments);
  }

  private int checkJob(String job, String... arguments) {
    List<String> all = new ArrayList<>(List.of("--project", directory.toString()));
    all.addAll(List.of("--work-dir", directory.toString(), "--check-only", job));
    all.addAll(List.of(arguments));
    String[] line = all.toArray(new String[0]);
    return JobCommand.commandLine(line).execute(line);
  }
}
