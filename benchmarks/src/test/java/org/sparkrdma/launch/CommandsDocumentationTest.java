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
 * marked as "not run, needs …" on its line or in the paragraph before it. Commands that only tests
 * tagged {@code nightly} run are marked as "run nightly". {@link CommandsInTextDocumentationTest}
 * checks commands in running text.
 */
class CommandsDocumentationTest {
  private static final String NIGHTLY_TAG = "@Tag(\"nightly\")";
  private static final String FENCE = "```";
  private static final String SHELL = FENCE + "bash";
  private static final Pattern NOT_RUN = Pattern.compile("not run\\b.*\\bneeds ");
  private static final Pattern NIGHTLY = Pattern.compile("\\brun nightly\\b");
  private static final Pattern TEST = Pattern.compile("\n  @(Parameterized)?Test\n");
  private static final Pattern COMMENT = Pattern.compile("(^|\\s+)# (.*)$");
  private static final Pattern ASSIGNMENT = Pattern.compile("[A-Z_]+=\\S*");

  /** First words of commands, by which a block without a language is recognised as one of them. */
  private static final Pattern COMMAND =
      Pattern.compile(
          "([A-Z_]+=\\S+ +)*(\\./\\S+( .*)?|(java|spark-submit|sbin/\\S+|apt-get|dnf|modprobe"
              + "|systemctl|systemd-run|sysctl|docker|kubectl|mkdir|cp|ibv_\\w+|ib_read_bw|ethtool"
              + "|ip (link|addr)) .+)");

  /** A test or script that runs the commands of a form. */
  private record Runner(Pattern form, String file, String evidence, boolean nightly) {
    String text() throws IOException {
      return Files.readString(DocumentationFiles.find(file));
    }

    boolean isTest() {
      return file.endsWith("IT.java") || file.endsWith("Test.java");
    }
  }

  private static Runner by(String form, String file, String evidence) {
    return new Runner(Pattern.compile(form), file, evidence, false);
  }

  private static Runner nightly(String form, String file, String evidence) {
    return new Runner(Pattern.compile(form), file, evidence, true);
  }

  private static final String JAR = "java -jar shuffle-plugin\\.jar ";

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
          by(
              "cp shuffle-plugin/target/\\S+\\.jar shuffle-plugin\\.jar",
              ".ci/run",
              "cp shuffle-plugin/target/shuffle-plugin-0.1.0-SNAPSHOT.jar"),
          by("\\./mvnw verify", ".ci/run", "./mvnw -B -ntp verify "),
          by("\\./mvnw .*-Dit\\.suites=FaultsSuite .*", "Suites.java", "\"faults.FaultsSuite\""),
          nightly(
              "\\./mvnw .*-Dit\\.test=GuestMatrixIT .*",
              "GuestMatrixIT.java",
              "shouldAnswerRightInEachOtherCell("),
          by("\\./guest build", ".ci/run", "./guest build"),
          by("apt-get install \\$\\(\\./guest packages\\)", ".ci/run", "< <(./guest packages)"),
          by("\\./guest run -- \\S+/spark-job", "SparkJobIT.java", "\"guest/spark-job\""),
          nightly("\\./guest run --nodes 2 .*/read-loop", "ReadLoopIT.java", "\"guest/read-loop\""),
          nightly(
              "\\./mvnw .*-Dit\\.test=TransferIT.*", "TransferIT.java", "shouldMoveTheSameBlocks"),
          nightly(
              "\\./mvnw .*-Dit\\.test=ServedWritesIT",
              "ServedWritesIT.java",
              "shouldWriteServedMapOutputsOnceByDefault"),
          by("\\./guest run -- ibv_devinfo", "GuestToolIT.java", "ONE.run(\"ibv_devinfo\")"),
          by("\\./guest run --nodes 2 -- bash -c .*rping.*", "GuestToolIT.java", "\"rping -s -C 3"),
          by("\\./guest ctl NAME link down", "GuestToolIT.java", "running.linkDown()"),
          by("\\./guest ctl NAME netem .*", "GuestToolIT.java", "running.netem(\""),
          by("\\./guest ctl NAME lose 'REQ 1'", "LostMessagesIT.java", "lose(LostMessage.REQ)"),
          by("\\./guest ctl NAME kill 2", "GuestToolIT.java", "running.kill(2)"),
          by(
              "\\./guest ctl NAME exec 1 'rdma link delete rxe0'",
              "MatrixCell.java",
              "rdma link delete rxe0"),
          by("\\./card DEVICE", "CardIT.java", "card rxe0 "),
          by("\\./bench list", "ScriptsIT.java", "run(Map.of(), \"bench list\")"),
          by("\\./bench groupby .*", "JobScriptsIT.java", "run(\"bench groupby "),
          by("\\./bench compare .*", "JobScriptsIT.java", "run(\"bench compare "),
          by("\\./bench regress .*", "RegressCommandTest.java", "regress(\"slow\", \"fast\""),
          by("\\./bench ceiling .*", "MeasuringScriptsIT.java", "\"bench ceiling --sizes"),
          by("\\./bench latency .*", "MeasuringScriptsIT.java", "\"bench latency --sizes"),
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
              "yarn logs -applicationId ID \\| grep -E 'RDMA is\\|Checks of executors'",
              "YarnIT.java",
              "\"Checks of executors: RDMA is used in [12], "),
          by(
              "spark-submit .*--class org\\.sparkrdma\\.benchmarks\\.jobs\\.ShuffleBenchmark .*",
              "SubmittedBenchmarkIT.java",
              "SparkSubmit.runBenchmark("),
          by(JAR + "doctor( --conf \\S+)?", "PlugInCommandsIT.java", "run(\"doctor\", \"--conf\""),
          by(JAR + "doctor --all", "PlugInCommandsIT.java", "run(\"doctor\", \"--all\""),
          by(JAR + "doctor --collect \\S+", "PlugInCommandsIT.java", "\"--collect\""),
          by("\\(cd / && grep -rsI .*", "SysfsTreeTest.java", "\"(cd / && grep -rsI \""),
          by("ethtool -S INTERFACE \\| sed .*", "SysfsTreeTest.java", "\"ethtool -S \""),
          by(JAR + "doctor --listen", "PlugInCommandsIT.java", "\"--listen\","),
          by(JAR + "doctor --peer \\S+", "PlugInCommandsIT.java", "\"--peer\","),
          by(JAR + "perf server", "PerfIT.java", " perf server "),
          by(JAR + "perf client \\S+", "PerfIT.java", " perf client "),
          nightly(
              "ib_read_bw -d rxe0 -x 1 -F -t 16 -s .*",
              "read-bw.sh",
              "ib_read_bw -d rxe0 -x 1 -F -t 16 -s"),
          nightly("\\./mvnw .*-Dtest=TurnTimeTest .*", ".ci/nightly", "-Dtest=TurnTimeTest "),
          nightly("\\./mvnw .*-Dit\\.test=ReadBwIT", "ReadBwIT.java", "shouldReadBesideIbReadBw("),
          by(JAR + "devices", "PlugInCommandsIT.java", "run(\"devices\""),
          by(
              "java -cp \"\\$CP\" org\\.sparkrdma\\.examples\\.\\w+ (server|client) soft .*",
              "ExamplesTest.java",
              "with the arguments of docs/verbs.md"));

  /**
   * A block of a page.
   *
   * @param firstLine number of its first line, counted from 1
   * @param shell whether it is marked as one of commands
   * @param above the paragraph before it
   */
  private record Block(Path page, int firstLine, boolean shell, String above, List<String> lines) {}

  /** A command of a page, without its comment. */
  private record Documented(Path page, int line, String command, boolean marked, boolean nightly) {
    @Override
    public String toString() {
      return page.getFileName() + ":" + line + ": " + command;
    }
  }

  @Test
  void shouldRunEveryCommandOrMarkIt() throws IOException {
    List<Documented> commands = commands();
    assertThat(commands).hasSizeGreaterThan(50);
    assertThat(commands.stream().filter(one -> !one.marked() && runners(one).isEmpty()))
        .as("neither run by a test nor marked \"not run, needs …\"")
        .isEmpty();
    assertThat(commands.stream().filter(one -> one.marked() && !runners(one).isEmpty()))
        .as("marked although a test runs them")
        .isEmpty();
  }

  @Test
  void shouldMarkCommandsThatOnlyNightlyTestsRun() throws IOException {
    assertThat(
            commands().stream()
                .filter(
                    one ->
                        one.nightly()
                            != (!runners(one).isEmpty()
                                && runners(one).stream().allMatch(Runner::nightly))))
        .as("marked \"run nightly\" although CI runs them, or not marked although it does not")
        .isEmpty();
  }

  @Test
  void shouldFindWhatEachRunnerRunsAndWhetherItIsNightly() throws IOException {
    for (Runner runner : RUNNERS) {
      String text = runner.text();
      assertThat(text).as("%s runs %s", runner.file(), runner.form()).contains(runner.evidence());
      if (runner.isTest()) {
        assertThat(isNightly(text, runner.evidence()))
            .as("%s of %s is tagged nightly", runner.evidence(), runner.file())
            .isEqualTo(runner.nightly());
      }
    }
  }

  /** Whether the class is tagged, or all methods that have this evidence. */
  private static boolean isNightly(String text, String evidence) {
    if (text.substring(0, text.indexOf("\nclass ") + 1 + text.indexOf("\nfinal class ") + 1)
        .contains(NIGHTLY_TAG)) {
      return true;
    }
    return Stream.of(TEST.split(text, -1))
        .filter(method -> method.contains(evidence))
        .allMatch(method -> method.contains(NIGHTLY_TAG));
  }

  @Test
  void shouldNameNoRunnerOfACommandThatNoPageHas() throws IOException {
    List<Documented> commands = commands();
    assertThat(RUNNERS)
        .allMatch(
            runner ->
                commands.stream().anyMatch(one -> runner.form().matcher(one.command()).matches()));
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

  private static List<Runner> runners(Documented documented) {
    return RUNNERS.stream()
        .filter(runner -> runner.form().matcher(documented.command()).matches())
        .toList();
  }

  private static List<Documented> commands() throws IOException {
    List<Documented> commands = new ArrayList<>();
    blocks().stream().filter(Block::shell).forEach(block -> collect(block, commands));
    return commands;
  }

  /** All blocks of all pages. */
  private static List<Block> blocks() throws IOException {
    List<Block> blocks = new ArrayList<>();
    for (Path page : DocumentationFiles.userPages()) {
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
          String above = paragraphBefore(lines, begin);
          blocks.add(new Block(page, begin + 2, shell, above, lines.subList(begin + 1, i)));
          begin = -1;
        }
      }
    }
    return blocks;
  }

  /** Adds the commands of a block, each of which may have several lines. */
  private static void collect(Block block, List<Documented> commands) {
    boolean marked = NOT_RUN.matcher(block.above()).find();
    boolean nightly = NIGHTLY.matcher(block.above()).find();
    boolean nextMarked = false;
    StringBuilder command = new StringBuilder();
    for (int i = 0; i < block.lines().size(); i++) {
      String text = block.lines().get(i).strip();
      var comment = COMMENT.matcher(text);
      boolean commented = comment.find();
      boolean markedHere = commented && NOT_RUN.matcher(comment.group(2)).find();
      boolean nightlyHere = commented && NIGHTLY.matcher(comment.group(2)).find();
      String plain = commented ? text.substring(0, comment.start()) : text;
      if (plain.isEmpty()) {
        nextMarked |= markedHere;
        continue;
      }
      boolean goesOn = plain.endsWith("\\");
      command.append(goesOn ? plain.substring(0, plain.length() - 1) : plain);
      if (!goesOn && !ASSIGNMENT.matcher(plain).matches()) {
        commands.add(
            new Documented(
                block.page(),
                block.firstLine() + i,
                command.toString().replaceAll(" +", " "),
                marked || markedHere || nextMarked,
                nightly || nightlyHere));
      }
      if (!goesOn) {
        command.setLength(0);
        nextMarked = false;
      }
    }
  }

  /** The text above a block, up to an empty line, as one line. */
  private static String paragraphBefore(List<String> lines, int begin) {
    int last = begin - 1;
    while (last >= 0 && lines.get(last).isBlank()) {
      last--;
    }
    int first = last;
    while (first > 0 && !lines.get(first - 1).isBlank()) {
      first--;
    }
    return last < 0 ? "" : String.join(" ", lines.subList(first, last + 1));
  }
}
