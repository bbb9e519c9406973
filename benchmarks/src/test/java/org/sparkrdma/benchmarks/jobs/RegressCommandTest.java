// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.Launcher;

/** The builds and benchmarks of the git repository in this test are short scripts. */
@Timeout(120)
class RegressCommandTest {
  /** Copies the report of its commit to the file of --report. */
  private static final String BENCH =
      """
      #!/bin/sh
      test -f built || exit 3
      while [ "$1" != --report ]; do shift; done
      cp report.json "$2"
      """;

  private static final String BUILD = "#!/bin/sh\ntouch built\n";

  @TempDir private Path directory;
  private Path project;
  private Path workDirectory;

  @BeforeEach
  void createRepository() throws Exception {
    project = Files.createDirectory(directory.resolve("project"));
    workDirectory = directory.resolve("work");
    git("init", "-q");
    writeScript("mvnw", BUILD);
    writeScript("bench", BENCH);
    commit("slow", 0.8);
    commit("fast", 0.5);
  }

  @Test
  void shouldFailOnlyWhenARatioIsWorse() throws Exception {
    assertThat(regress("slow", "fast")).isZero();
    assertThat(regress("fast", "slow")).isEqualTo(1);
    assertThat(regress("fast")).isZero();
    assertNothingLeft();
  }

  @Test
  void shouldKeepTheOutputOfAFailedBuild() throws Exception {
    writeScript("mvnw", "#!/bin/sh\necho no compiler\nexit 1\n");
    commit("broken", 1);
    assertThat(regress("fast", "broken")).isEqualTo(1);
    assertThat(workDirectory.resolve("regress-failed.log")).hasContent("no compiler");
    assertNothingLeft();
  }

  /** Hours of measurements, which an error after them once lost. */
  @Test
  void shouldHaveWrittenTheValuesOfEachPairBeforeWhatFollowsFails() throws Exception {
    Path runs = directory.resolve("runs");
    String failing =
        "#!/bin/sh\necho run >>" + runs + "\n[ $(wc -l <" + runs + ") -lt 6 ] || exit 1\n";
    writeScript("bench", BENCH.replace("#!/bin/sh\n", failing));
    commit("failing", 0.7);
    Path report = directory.resolve("report.json");
    assertThat(regress("--report", report.toString(), "failing", "failing")).isEqualTo(1);
    JsonNode written = new ObjectMapper().readTree(report.toFile());
    for (String side : List.of("baseRuns", "headRuns")) {
      assertThat(written.path(side)).hasSize(2);
      assertThat(written.path(side).get(0).path("groupby 2x2x4k, rdma / vanilla, wall"))
          .singleElement()
          .matches(value -> value.asDouble() == 0.7);
    }
  }

  private void assertNothingLeft() throws Exception {
    assertThat(git("worktree", "list")).hasLineCount(1);
    assertThat(workDirectory).isDirectoryNotContaining("glob:**regress-??*[0-9]");
  }

  private void commit(String subject, double ratio) throws Exception {
    new ObjectMapper()
        .writeValue(
            project.resolve("report.json").toFile(), BenchmarkReports.pairs(10, 10 * ratio));
    git("add", "-A");
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", subject);
    git("tag", subject);
  }

  private void writeScript(String name, String content) throws IOException {
    Path script = Files.writeString(project.resolve(name), content);
    assertThat(script.toFile().setExecutable(true)).isTrue();
  }

  private int regress(String... more) {
    return Launcher.commandLine(RegressCommand.class)
        .execute(arguments(more).toArray(new String[0]));
  }

  private List<String> arguments(String... more) {
    List<String> all =
        new ArrayList<>(
            List.of("--project", project.toString(), "--work-dir", workDirectory.toString()));
    all.addAll(List.of(more));
    return all;
  }

  private String git(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("git", "-C", project.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    // A hook of git names its own repository to its children.
    builder.environment().keySet().removeIf(name -> name.startsWith("GIT_"));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
