// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.chart;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.benchmarks.jobs.BenchmarkReports;
import org.sparkrdma.launch.Launcher;
import org.sparkrdma.launch.Refusal;

class ChartCommandTest {
  @TempDir private Path directory;
  private Path report;

  @BeforeEach
  void writeReport() throws Exception {
    report = directory.resolve("groupby-1234567.json");
    new ObjectMapper().writeValue(report.toFile(), BenchmarkReports.pairs(10, 5, 10, 9));
  }

  private static String[] arguments(String... more) {
    List<String> all = new ArrayList<>(List.of("--project", "p", "--work-dir", "w"));
    all.addAll(List.of(more));
    return all.toArray(new String[0]);
  }

  private String draw(String folder, String... more) throws Exception {
    Path out = directory.resolve(folder);
    List<String> all = new ArrayList<>(List.of(more));
    all.addAll(List.of("--out", out.toString(), report.toString()));
    assertThat(
            Launcher.commandLine(ChartCommand.class).execute(arguments(all.toArray(String[]::new))))
        .isZero();
    return Files.readString(out.resolve("wall.svg"));
  }

  @Test
  void shouldDrawTheSameBytesAgainWithAllNumbersAsText() throws Exception {
    String picture = draw("first");
    assertThat(draw("second", "--metrics", "wall")).isEqualTo(picture);
    assertThat(directory.resolve("first")).isDirectoryContaining("glob:**/fetch-wait.svg");
    assertThat(directory.resolve("second")).isDirectoryNotContaining("glob:**/fetch-wait.svg");
    assertThat(picture)
        .contains(
            "<title>Wall time, as a multiple of that with Spark alone: less is better</title>")
        .contains(">groupby, blocks of 4k: the plug-in</text>")
        .contains("groupby 2x2x4k: rdma 0.70 (0.60..0.80). Drawn from groupby-1234567.json.")
        .doesNotContainPattern("20[0-9]{2}-[0-9]{2}");
  }

  @Test
  void shouldRefuseMetricsAndFilesThatHaveNoRatio() throws Exception {
    assertThat(refusal("--metrics", "speed", report.toString()))
        .isEqualTo(
            "--metrics has 'speed': give some of wall,fetch wait,executor CPU,GC,peak memory");
    assertThat(refusal(directory.resolve("none.json").toString()))
        .startsWith("not a readable report");
  }

  @Test
  void shouldDrawWhereTheTimeOfAJobGoes() throws Exception {
    Path transfer = directory.resolve("transfer-1234567.json");
    String costs =
        """
        {"cases":[{"blockBytes":4096,"figures":{
         "nettyServerSecondsPerGb":{"median":6},"nettyClientSecondsPerGb":{"median":4},
         "rdmaServerSecondsPerGb":{"median":99},"rdmaClientSecondsPerGb":{"median":101}}}]}""";
    Files.writeString(transfer, costs);
    Path out = directory.resolve("time");
    String[] options = {"--metrics", "time", "--out", out + "", report + "", transfer + ""};
    assertThat(Launcher.commandLine(ChartCommand.class).execute(arguments(options))).isZero();
    assertThat(out).isDirectoryNotContaining("glob:**/wall.svg");
    assertThat(Files.readString(out.resolve("time.svg")))
        .contains("the plug-in 59.8 | 3.8 | 18.2. Drawn from groupby-1234567.json, transfer");
    assertThat(refusal("--metrics", "time", report + "")).contains("needs reports of jobs");
    assertThat(refusal("--metrics", "time", transfer + "", transfer + ""))
        .isEqualTo("not a readable report of a job of ./bench: " + transfer);
    assertThat(refusal("--metrics", "time", report + "", directory + "/none.json"))
        .startsWith("not a readable report of ./bench transfer");
  }

  private static String refusal(String... options) {
    return Refusal.of(ChartCommand.class, arguments(options));
  }
}
