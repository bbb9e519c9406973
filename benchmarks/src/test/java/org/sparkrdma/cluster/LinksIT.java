// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.cluster.job.ClusterJob;
import org.sparkrdma.cluster.job.JobResult;
import org.sparkrdma.cluster.job.OtherPlugin;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.RunDirectory;
import org.sparkrdma.shuffle.links.LinkCheck;

/**
 * Jobs on a Spark of which methods and fields have another name: the answer is Spark's, no attempt
 * fails, and one WARN of each process names one of them and the version.
 */
@Execution(ExecutionMode.SAME_THREAD)
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD)
class LinksIT {
  private static final String PLUG_IN = "org.sparkrdma.shuffle.RdmaPlugin";
  private static final String NOT_LAST = PLUG_IN + ",org.sparkrdma.cluster.job.IdlePlugin";

  private static final String ABORTED = "WRONG: aborted";
  private static final String NOT_BUILT_FOR =
      ".*Spark 4[.]2[.]0 is not one that the plug-in was built for: ";

  /** A WARN of the plug-in, with the part of it that is off. */
  private static final Pattern WARN =
      Pattern.compile(" WARN .*?(Torrent:|RDMA is not|RDMA|plug-in)");

  @TempDir private static Path directory;
  private static List<String> expected;
  private static Path job;
  private static Path agent;

  /**
   * Where methods and fields have another name, and the parts of the plug-in that this is about.
   */
  private enum Place {
    EXECUTORS("reader|client|serving|beside|start|\\[broadcast\\]"),
    DRIVER("driver|ui|start"),
    BOTH("start");

    private final String parts;

    Place(String parts) {
      this.parts = parts;
    }
  }

  /** An application: what it has shown, and the logs of its driver and of its executors. */
  private record Shown(String outcome, List<String> logs) {}

  @BeforeAll
  static void prepare() throws Exception {
    job = JobFixture.jar(directory.resolve("job.jar"));
    expected = ClusterJob.small();
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().putValue("Premain-Class", RenamingAgent.class.getName());
    Package of = RenamingAgent.class.getPackage();
    agent = JobFixture.jar(directory.resolve("agent.jar"), of, "RenamingAgent*", manifest);
  }

  /** WARNs are those of the driver and of each executor. */
  @ParameterizedTest
  @CsvSource({
    "shuffle/sort/SortShuffleManager.canUseBatchFetch, EXECUTORS, 'no RDMA, WARNs [1, 1, 1]'",
    "ui/UIUtils.headerSparkPage,                       BOTH,      'no tab, WARNs [1, 0, 0]'",
    "network/shuffle/BlockStoreClient.+added,          EXECUTORS, 'no RDMA, WARNs [1, 1, 1]'",
  })
  void shouldUseSparksOwnWhereAMethodIsMissing(String member, Place place, String outcome)
      throws Exception {
    // A method that Spark's client has in addition matters most where the plug-in replaces it.
    String plugins = member.contains("+") ? NOT_LAST : PLUG_IN;
    Shown shown = run(List.of("org/apache/spark/" + member), place, plugins);

    assertThat(shown.outcome()).as(String.join("", shown.logs())).isEqualTo(outcome);
    if (place == Place.EXECUTORS) {
      assertThat(shown.logs()).noneMatch(log -> log.contains("fetch by RDMA"));
      String name = name(member);
      assertThat(shown.logs().get(0))
          .containsPattern("readBytes=0 .*tcpBytes=[1-9].*executorsWithoutRdma=.*" + name);
    }
  }

  /**
   * What changes on Spark's master: the resolver is that of another trait, and the manager of map
   * outputs has another name.
   */
  @Test
  void shouldReadByRdmaOnALaterSpark() throws Exception {
    assertReadsByRdmaOnALaterSpark(PLUG_IN);
  }

  @Test
  @Tag("nightly")
  void shouldReadByRdmaBesideSparksManagerOnALaterSpark() throws Exception {
    assertReadsByRdmaOnALaterSpark(NOT_LAST);
  }

  private static void assertReadsByRdmaOnALaterSpark(String plugins) throws Exception {
    List<String> later =
        List.of(
            "org/apache/spark/SparkEnv.shuffleManager~blockingShuffleManager",
            "org/apache/spark/shuffle/ShuffleManager.shuffleBlockResolver"
                + "()Lorg/apache/spark/shuffle/ShuffleBlockResolver;~resolver");
    Shown shown = run(later, Place.BOTH, plugins);

    assertThat(shown.outcome()).isEqualTo("RDMA, WARNs [0, 0, 0] WRONG [no WARN names it]");
    assertThat(shown.logs().get(0)).contains(" tcpBytes=0 ");
    assertThat(shown.logs().get(0).contains("The shuffle manager is org.apache.spark."))
        .isEqualTo(!plugins.equals(PLUG_IN));
  }

  /**
   * A manager that another plug-in sets, as RAPIDS does, or that the user names, as for Comet.
   * Every day RdmaPluginTest has these orders, and PluginSuite one manager.
   */
  @Tag("nightly")
  @ParameterizedTest
  @CsvSource({"'OTHER,OURS', ''", "'OURS,OTHER', ''", "'OURS,IDLE', MANAGER"})
  void shouldReadByRdmaBesideAnotherPlugin(String order, String manager) throws Exception {
    String other = OtherPlugin.Manager.class.getName();
    String plugins =
        order
            .replace("OTHER", OtherPlugin.class.getName())
            .replace("OURS,IDLE", NOT_LAST)
            .replace("OURS", PLUG_IN);
    String setting = manager.isEmpty() ? "spark.x=" : "spark.shuffle.manager=" + other;
    Shown shown = run(List.of("org/apache/spark/None.noSuchMethod"), Place.BOTH, plugins, setting);

    assertThat(shown.outcome()).isEqualTo("RDMA, WARNs [0, 0, 0] WRONG [no WARN names it]");
    assertThat(shown.logs().get(0)).contains(" tcpBytes=0 ", "The shuffle manager is " + other);
    assertThat(shown.logs().subList(1, 3))
        .allMatch(log -> log.contains("Readers of " + other + " fetch by RDMA"));
  }

  /**
   * All methods and fields; one application for those of a class that the same parts of the plug-in
   * use.
   */
  @Test
  @Tag("nightly")
  @Timeout(value = 2, unit = TimeUnit.HOURS, threadMode = ThreadMode.SEPARATE_THREAD)
  void shouldGiveTheSameAnswerWhereAnyMethodOrFieldIsMissing() throws Exception {
    List<String> table = new ArrayList<>();
    for (Map.Entry<String, List<String>> group : groups().entrySet()) {
      String parts = group.getKey().replaceFirst("(?<=]) .*", "");
      for (Place place : Place.values()) {
        if (parts.matches(".*(" + place.parts + ").*")) {
          addRows(table, group.getValue(), parts, place);
        }
      }
    }
    Files.write(Path.of("target", "links.txt"), table);
    assertThat(table).filteredOn(row -> row.contains("WRONG")).isEmpty();
    // Each part has rows where Spark itself goes on.
    assertThat(table.stream().filter(row -> row.contains(", WARNs [")).collect(joining()))
        .contains(
            "[beside", "[broadcast", "[client", "[driver", "[reader", "[serving", "[start", "[ui");
  }

  /** A row; one for each method and field, too, where Spark does not run without all of them. */
  private static void addRows(List<String> table, List<String> members, String parts, Place place)
      throws Exception {
    String plugins = parts.equals("[beside]") ? NOT_LAST : PLUG_IN;
    String broadcast = parts.equals("[broadcast]") ? "auto" : "off";
    String setting = "spark.shuffle.rdma.broadcast.mode=" + broadcast;
    String outcome = run(members, place, plugins, setting).outcome();
    if (outcome.equals(ABORTED) && run(members, place, "").outcome().equals(ABORTED)) {
      outcome = "Spark itself fails";
      for (String member : members.size() > 1 ? members : List.<String>of()) {
        addRows(table, List.of(member), parts, place);
      }
    }
    table.add(String.join(" ", members) + " " + parts + " " + place + ": " + outcome);
    System.out.println(table.get(table.size() - 1));
  }

  /** Methods and fields by the parts that use them and by class, as options of the agent. */
  private static Map<String, List<String>> groups() throws IOException {
    Map<String, TreeSet<String>> parts = new TreeMap<>();
    try (InputStream list = LinkCheck.class.getResourceAsStream("links.tsv")) {
      for (String line : new String(list.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
        String[] fields = line.split("\t", -1);
        // Spark creates its manager by reflection, which the agent does not see.
        if (fields.length > 4
            && fields[2].startsWith("org.apache.spark.")
            && !line.matches("history\t.*|.*SortShuffleManager\t<init>.*")) {
          String member = fields[2].replace('.', '/') + "." + fields[3].replaceFirst("[|].*", "");
          String descriptor = fields[1].endsWith("method") ? fields[4] : "";
          parts.computeIfAbsent(member + descriptor, key -> new TreeSet<>()).add(fields[0]);
        }
      }
    }
    Map<String, List<String>> groups = new TreeMap<>();
    parts.forEach(
        (member, of) ->
            groups
                .computeIfAbsent(
                    of + " " + member.replaceFirst("[.].*", ""), key -> new ArrayList<>())
                .add(member));
    return groups;
  }

  private static Shown run(List<String> members, Place place, String plugins, String... settings)
      throws Exception {
    Path own = Files.createTempDirectory(directory, "run");
    // Spark writes the logs of executors there.
    Path home = Files.createDirectory(own.resolve("home"));
    Installation installation = SparkSubmit.installation();
    Files.createSymbolicLink(home.resolve("jars"), installation.sparkHome().resolve("jars"));
    String option = "-javaagent:" + agent + "=" + String.join(",", members);
    List<String> command = new ArrayList<>(List.of("--master", "local-cluster[2,1,1024]"));
    command.addAll(List.of("--jars", installation.plugIn().toString()));
    command.addAll(
        SparkSubmit.conf(
            "spark.plugins=" + plugins,
            "spark.shuffle.rdma.engine=soft",
            // On a busy machine blocks would come by TCP, too.
            "spark.shuffle.rdma.waits.factor=100",
            "spark.shuffle.readHostLocalDisk=false",
            // On a busy machine one executor alone could run all tasks, and no block would be
            // remote.
            "spark.scheduler.minRegisteredResourcesRatio=1"));
    command.addAll(SparkSubmit.conf(settings));
    if (place != Place.DRIVER) {
      command.addAll(SparkSubmit.conf("spark.executor.extraJavaOptions=" + option));
    }
    if (place != Place.EXECUTORS) {
      command.addAll(List.of("--driver-java-options", option));
    }
    command.addAll(List.of("--class", ClusterJob.class.getName(), job.toString()));
    command.addAll(List.of("shuffle", own.resolve("result.json").toString()));
    Process process = SparkSubmit.start(home, own, Map.of(), command);
    try {
      // Spark replaces executors that end at their start for ever.
      boolean unused = process.waitFor(2, TimeUnit.MINUTES);
    } finally {
      LiveProcesses.end(List.of(process.toHandle()), Duration.ofSeconds(10));
    }
    SparkSubmit.Outcome outcome = SparkSubmit.outcome(process, own);
    List<String> logs = new ArrayList<>(List.of(outcome.errors()));
    try (Stream<Path> files = Files.walk(home)) {
      for (Path log : files.filter(file -> file.endsWith("stderr")).sorted().toList()) {
        logs.add(Files.readString(log));
      }
    }
    JobResult result =
        outcome.exitCode() == 0
            ? new ObjectMapper().readValue(own.resolve("result.json").toFile(), JobResult.class)
            : null;
    RunDirectory.deleteTree(own);
    return new Shown(outcome(members, result, logs), logs);
  }

  /** The answer, what is off, the number of WARNs in each log, and what is wrong. */
  private static String outcome(List<String> members, JobResult result, List<String> logs) {
    if (result == null) {
      return ABORTED;
    }
    String all = String.join("", logs);
    String off = all.matches("(?s).* readBytes=[1-9].*") ? "RDMA" : "no RDMA";
    if (all.contains("come by Torrent")) {
      off = "Torrent";
    } else if (all.contains("Spark's UI does not show the RDMA shuffle")) {
      off = "no tab";
    }
    List<List<String>> warnings =
        logs.stream()
            .map(log -> WARN.matcher(log).results().map(one -> one.group(1)).toList())
            .toList();
    List<String> wrong = new ArrayList<>();
    if (!result.answer().equals(expected) || result.failedTasks() > 0) {
      wrong.add(result.toString());
    }
    if (warnings.stream().anyMatch(parts -> parts.size() > Set.copyOf(parts).size())) {
      wrong.add("a process WARNs twice");
    }
    String names = members.stream().map(LinksIT::name).collect(joining("|"));
    if (!Pattern.compile(WARN + NOT_BUILT_FOR + ".*(" + names + ")").matcher(all).find()) {
      wrong.add("no WARN names it");
    }
    String counts = warnings.stream().map(List::size).toList().toString();
    return off + ", WARNs " + counts + (wrong.isEmpty() ? "" : " WRONG " + wrong);
  }

  /** Matches what a WARN says is missing: the method or field, or the class that has one more. */
  private static String name(String member) {
    return Pattern.quote(member.replaceFirst("[(~].*|[.][+].*", "").replaceFirst(".*/", ""));
  }
}
