// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The commands in the blocks of the pages: each is run by a test or a script of this project, or is
 * in the list of those that none runs. {@link CommandsInTextDocumentationTest} checks commands in
 * running text.
 */
class CommandsDocumentationTest {
  private static final String FENCE = "```";
  private static final String SHELL = FENCE + "bash";
  private static final Pattern COMMENT = Pattern.compile("(^|\\s+)# (.*)$");
  private static final Pattern ASSIGNMENT = Pattern.compile("[A-Z_]+=\\S*");

  /** First words of commands, by which a block without a language is recognised as one of them. */
  private static final Pattern COMMAND =
      Pattern.compile(
          "([A-Z_]+=\\S+ +)*(\\./\\S+( .*)?|(java|spark-submit|sbin/\\S+|apt-get|dnf|modprobe"
              + "|systemctl|systemd-run|sysctl|docker|kubectl|mkdir|cp|ibv_\\w+|ib_read_bw|ethtool"
              + "|ip (link|addr)) .+)");

  /** A test or script that runs the commands of a form, and what shows that in its text. */
  private record Runner(Pattern form, String file, String evidence) {}

  private static Runner by(String form, String file, String evidence) {
    return new Runner(Pattern.compile(form), file, evidence);
  }

  private static final String JAR = "java -jar \\S*shuffle-plugin\\.jar ";

  /** Runners in the order in which they are tried. */
  private static final List<Runner> RUNNERS =
      List.of(
          by("\\./quickstart", "JobScriptsIT.java", "run(\"quickstart --size 1m "),
          by(
              "\\./mvnw -pl shuffle-plugin -am -Dmaven\\.test\\.skip=true package",
              ".ci/run",
              "./mvnw -pl shuffle-plugin -am -Dmaven.test.skip=true package"),
          by(
              "\\./mvnw -pl benchmarks -am -Dmaven\\.test\\.skip=true package",
              ".ci/run",
              "./mvnw -pl benchmarks -am -Dmaven.test.skip=true package"),
          by("\\./dev/guest build", ".ci/run", "./dev/guest build"),
          by(
              "apt-get install \\$\\(\\./dev/guest packages\\)",
              ".ci/run",
              "< <(./dev/guest packages)"),
          by("\\./dev/guest run -- \\S+/spark-job", "SparkJobIT.java", "\"guest/spark-job\""),
          by("\\./dev/guest run -- ibv_devinfo", "GuestToolIT.java", "ONE.run(\"ibv_devinfo\")"),
          by("\\./dev/guest ctl NAME link down", "GuestToolIT.java", "running.linkDown()"),
          by("\\./dev/guest ctl NAME netem .*", "GuestToolIT.java", "running.netem(\""),
          by("\\./dev/guest ctl NAME lose 'REQ 1'", "LostMessagesIT.java", "lose(LostMessage.REQ)"),
          by("\\./dev/guest ctl NAME kill 2", "GuestToolIT.java", "running.kill(2)"),
          by(
              "\\./dev/guest ctl NAME exec 1 'rdma link delete rxe0'",
              "MatrixCell.java",
              "rdma link delete rxe0"),
          by("\\./card DEVICE", "CardIT.java", "card rxe0 "),
          by("\\./bench list", "ScriptsIT.java", "run(Map.of(), \"bench list\")"),
          by("\\./bench groupby .*", "JobScriptsIT.java", "run(\"bench groupby "),
          by("\\./bench compare .*", "JobScriptsIT.java", "run(\"bench compare "),
          by("\\./bench transfer .*", "ScriptsIT.java", "\"bench transfer\""),
          by("\\./bench regress .*", "RegressCommandTest.java", "regress(\"slow\", \"fast\""),
          by(
              "spark-submit --jars \\S*shuffle-plugin\\S*\\.jar --conf spark\\.shuffle\\.manager=\\S+ .*",
              "integration-tests/guest/spark-job",
              "--jars "),
          by(
              "spark-submit --class org\\.sparkrdma\\.shuffle\\.tools\\.Main \\S+ doctor",
              "SubmittedCommandsIT.java",
              "\"doctor\")"),
          by(
              "spark-submit --conf spark\\.shuffle\\.rdma\\.doctor=true .*",
              "DoctorSuite.scala",
              ".set(\"spark.shuffle.rdma.doctor\", \"true\")"),
          by(
              "spark-submit --master yarn --deploy-mode cluster --conf \\S+\\.doctor=true .*",
              "YarnIT.java",
              "{\"client\", \"cluster\"}"),
          by(
              "yarn logs -applicationId ID \\| grep -E 'RDMA is\\|Checks of executor'",
              "YarnIT.java",
              "\"Checks of executor [0-9]+ on .*: RDMA is used"),
          by(
              "spark-submit .*--class org\\.sparkrdma\\.benchmarks\\.jobs\\.ShuffleBenchmark .*",
              "SubmittedBenchmarkIT.java",
              "SparkSubmit.runBenchmark("),
          by(JAR + "doctor( --conf \\S+)?", "PlugInCommandsIT.java", "run(\"doctor\", \"--conf\""),
          by(JAR + "doctor --collect \\S+", "PlugInCommandsIT.java", "\"--collect\""),
          by(JAR + "doctor --listen", "PlugInCommandsIT.java", "\"--listen\","),
          by(JAR + "doctor --peer \\S+", "PlugInCommandsIT.java", "\"--peer\","),
          by(JAR + "perf server", "PerfIT.java", " perf server "),
          by(JAR + "perf client \\S+", "PerfIT.java", " perf client "),
          by(JAR + "devices", "PlugInCommandsIT.java", "run(\"devices\""),
          by(
              "java -cp \"\\$CP\" org\\.sparkrdma\\.examples\\.\\w+ (server|client) soft .*",
              "ExamplesTest.java",
              "Runs both ends of the example"));

  /** Forms of commands that no test runs, because they need hardware, root or a cluster. */
  private static final List<Pattern> NOT_RUN =
      Stream.of(
              "apt-get install libibverbs1 .*",
              "dnf install .*",
              "curl -s .*/stages .*",
              "\\./mvnw (-Pquick test|-Pfast verify|spotless:apply).*",
              "modprobe .*",
              "printf .* > /etc/modules-load\\.d/.*",
              "mkdir -p /etc/systemd/.*",
              "cp conf/systemd-memlock\\.conf .*",
              "systemctl .*",
              "systemd-run .*",
              "sysctl -w .*",
              "docker .*",
              "kubectl .*",
              "mkdir image && cp .*",
              "spark-submit --master k8s:.*",
              "SPARK_DAEMON_CLASSPATH=.*",
              "ibv_devinfo -v",
              "mlnx_qos .*",
              "(mkdir|echo .* >) /sys/.*",
              "ip link set .*")
          .map(Pattern::compile)
          .toList();

  /**
   * A block of a page.
   *
   * @param firstLine number of its first line, counted from 1
   * @param shell whether it is marked as one of commands
   */
  private record Block(Path page, int firstLine, boolean shell, List<String> lines) {}

  /** A command of a page, without its comment. */
  private record Documented(Path page, int line, String command) {
    boolean isOf(Pattern form) {
      return form.matcher(command).matches();
    }

    @Override
    public String toString() {
      return page.getFileName() + ":" + line + ": " + command;
    }
  }

  @Test
  void shouldRunEachCommandOrListIt() throws IOException {
    List<Documented> commands = commands();
    assertThat(commands).isNotEmpty();
    assertThat(commands.stream().filter(one -> !isRun(one) && !isListed(one)))
        .as("neither run by a test nor listed in NOT_RUN")
        .isEmpty();
    assertThat(commands.stream().filter(one -> isRun(one) && isListed(one)))
        .as("listed in NOT_RUN although a test runs them")
        .isEmpty();
  }

  @Test
  void shouldFindWhatEachRunnerRuns() throws IOException {
    for (Runner runner : RUNNERS) {
      assertThat(DocumentationFiles.find(runner.file()))
          .as("%s runs %s", runner.file(), runner.form())
          .content()
          .contains(runner.evidence());
    }
  }

  @Test
  void shouldHaveNoFormOfACommandThatNoPageHas() throws IOException {
    List<Documented> commands = commands();
    assertThat(Stream.concat(RUNNERS.stream().map(Runner::form), NOT_RUN.stream()))
        .allMatch(form -> commands.stream().anyMatch(one -> one.isOf(form)));
  }

  @Test
  void shouldMarkEveryBlockOfCommandsAsShell() throws IOException {
    List<String> unmarked = new ArrayList<>();
    for (Block block : blocks()) {
      if (!block.shell()) {
        block.lines().stream()
            .filter(line -> COMMAND.matcher(line.strip()).matches())
            .forEach(line -> unmarked.add(block.page().getFileName() + ": " + line));
      }
    }
    assertThat(unmarked).as("in a block that does not begin with " + SHELL).isEmpty();
  }

  private static boolean isRun(Documented command) {
    return RUNNERS.stream().anyMatch(runner -> command.isOf(runner.form()));
  }

  private static boolean isListed(Documented command) {
    return NOT_RUN.stream().anyMatch(command::isOf);
  }

  private static List<Documented> commands() throws IOException {
    List<Documented> commands = new ArrayList<>();
    blocks().stream().filter(Block::shell).forEach(block -> collect(block, commands));
    return commands;
  }

  /** All blocks of all pages. */
  private static List<Block> blocks() throws IOException {
    List<Block> blocks = new ArrayList<>();
    for (Path page : DocumentationFiles.pages()) {
      List<String> lines = Files.readAllLines(page);
      int begin = -1;
      for (int i = 0; i < lines.size(); i++) {
        if (!lines.get(i).strip().startsWith(FENCE)) {
          continue;
        }
        if (begin < 0) {
          begin = i;
        } else {
          boolean shell = lines.get(begin).strip().equals(SHELL);
          blocks.add(new Block(page, begin + 2, shell, lines.subList(begin + 1, i)));
          begin = -1;
        }
      }
    }
    return blocks;
  }

  /** Adds the commands of a block, each of which may have several lines. */
  private static void collect(Block block, List<Documented> commands) {
    StringBuilder command = new StringBuilder();
    for (int i = 0; i < block.lines().size(); i++) {
      String text = block.lines().get(i).strip();
      var comment = COMMENT.matcher(text);
      String plain = comment.find() ? text.substring(0, comment.start()) : text;
      if (plain.isEmpty()) {
        continue;
      }
      boolean goesOn = plain.endsWith("\\");
      command.append(goesOn ? plain.substring(0, plain.length() - 1) : plain);
      if (!goesOn) {
        if (!ASSIGNMENT.matcher(plain).matches()) {
          commands.add(
              new Documented(
                  block.page(), block.firstLine() + i, command.toString().replaceAll(" +", " ")));
        }
        command.setLength(0);
      }
    }
  }
}
