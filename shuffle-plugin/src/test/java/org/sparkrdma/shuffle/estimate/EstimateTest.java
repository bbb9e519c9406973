// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import org.apache.spark.io.CompressionCodec;
import org.apache.spark.io.LZ4CompressionCodec;
import org.apache.spark.io.LZFCompressionCodec;
import org.apache.spark.io.SnappyCompressionCodec;
import org.apache.spark.io.ZStdCompressionCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.estimate.Estimation.Verdict;

/** Logs as Spark writes, names, compresses, rolls, compacts and leaves them. */
class EstimateTest {
  private static final String ID = "application_1700000000000_0001";

  @TempDir private Path directory;
  private final Properties settings = new Properties();
  private final List<String> progress = new ArrayList<>();
  private long nowNs;

  private Report run(String... names) throws IOException {
    return new Estimate(settings, progress::add, () -> nowNs).run(List.of(names), List.of(), null);
  }

  private Report run(Path log) throws IOException {
    return run(log.toString());
  }

  private Estimation only(Path log) throws IOException {
    Report report = run(log);
    assertThat(report.applications()).as(report.notRead().toString()).hasSize(1);
    return report.applications().get(0);
  }

  private Path write(String name, byte[] bytes) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.write(file, bytes);
  }

  private static Events log() {
    return Events.of("4.2.0", ID, "", 2, 1);
  }

  private static CompressionCodec codec(String name) {
    return switch (name) {
      case "lz4" -> new LZ4CompressionCodec(Events.conf());
      case "lzf" -> new LZFCompressionCodec(Events.conf());
      case "snappy" -> new SnappyCompressionCodec(Events.conf());
      default -> new ZStdCompressionCodec(Events.conf());
    };
  }

  @Test
  void shouldEstimateALogOfOneFile() throws IOException {
    Estimation one = only(write(ID, log().waitingJob().end(21_000).bytes()));
    assertThat(one.id()).isEqualTo(ID);
    assertThat(one.seconds()).isEqualTo(20);
    assertThat(one.tasks()).isEqualTo(4);
    // What was read to disk is part of it.
    assertThat(one.remoteBytes()).isEqualTo(1_600_000);
    assertThat(one.remoteBlocks()).isEqualTo(400);
    assertThat(one.meanBlockBytes()).isEqualTo(4_000);
    assertThat(one.fetchWaitShare()).isCloseTo(0.2, within(1e-9));
    assertThat(one.waitingAtMost()).isCloseTo(0.2, within(1e-9));
    assertThat(one.low()).isLessThan(one.likely());
    assertThat(one.likely()).isBetween(0.05, 0.15);
    assertThat(one.high()).isBetween(0.2, 0.21);
    assertThat(one.verdict()).isEqualTo(Verdict.WORTH_A_PILOT);
    assertThat(one.notes()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"lz4", "lzf", "snappy", "zstd"})
  void shouldReadEachCodec(String codec) throws IOException {
    byte[] bytes = log().waitingJob().end(21_000).bytes(codec(codec));
    Estimation one = only(write(ID + "_1." + codec, bytes));
    assertThat(one.tasks()).isEqualTo(4);
    assertThat(one.notes()).isEmpty();
    assertThat(one.id()).isEqualTo(ID);
  }

  /** Logs that each version has written, of a job whose blocks are few. */
  @ParameterizedTest
  @ValueSource(strings = {"3.5.9", "4.0.4", "4.1.3", "4.2.0"})
  void shouldReadTheLogsOfEachVersion(String spark) throws Exception {
    Path log = Path.of(getClass().getResource("event-log-" + spark).toURI());
    Estimation one = only(log);
    assertThat(one.name()).isEqualTo("Tiny");
    assertThat(one.sparkVersion()).isEqualTo(spark);
    // What a version counts as waiting.
    assertThat(one.notes()).hasSize(1);
    List<JsonNode> reads = new ArrayList<>();
    for (String line : Files.readAllLines(log)) {
      JsonNode metrics = new ObjectMapper().readTree(line).path("Task Metrics");
      if (metrics.isObject()) {
        reads.add(metrics.path("Shuffle Read Metrics"));
      }
    }
    assertThat(one.tasks()).isEqualTo(reads.size()).isGreaterThan(5);
    assertThat(one.remoteBytes())
        .isPositive()
        .isEqualTo(reads.stream().mapToLong(r -> r.path("Remote Bytes Read").asLong()).sum());
    assertThat(one.remoteBlocks())
        .isPositive()
        .isEqualTo(reads.stream().mapToLong(r -> r.path("Remote Blocks Fetched").asLong()).sum());
    assertThat(one.fetchWaitShare()).isBetween(0.0, 0.2);
    assertThat(one.verdict()).isEqualTo(Verdict.NOT_WORTH_IT);
  }

  /** The application still writes, so the last event is there in part, or its codec's frame is. */
  @ParameterizedTest
  @ValueSource(strings = {"", ".lz4", ".lzf", ".snappy", ".zstd"})
  void shouldReadALogThatIsCutOffToItsLastWholeLine(String codec) throws IOException {
    Events events = log().waitingJob();
    Random random = new Random(3);
    for (int i = 0; i < 5_000; i++) {
      // Not all tasks may be in one block of the codec.
      int noise = random.nextInt(1_000_000_000);
      events.task(20_000 + i, 10, 1, 1, 1_000 + noise);
    }
    byte[] all = codec.isEmpty() ? events.bytes() : events.bytes(codec(codec.substring(1)));
    Path log = write(ID + codec + ".inprogress", Arrays.copyOf(all, all.length * 2 / 3));
    Estimation one = only(log);
    assertThat(one.tasks()).isBetween(1_000L, 4_500L);
    assertThat(one.notes().get(0)).contains("cut off");
    assertThat(one.verdict()).isNotEqualTo(Verdict.NONE);
  }

  /** As Spark writes the log of a running application: frames end when it flushes, the last not. */
  @Test
  void shouldReadAnOpenFrameOfZstd() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    OutputStream zstd = new ZstdOutputStreamNoFinalizer(bytes).setCloseFrameOnFlush(true);
    zstd.write(log().waitingJob().bytes());
    zstd.flush();
    Events more = log();
    Random random = new Random(5);
    for (int i = 0; i < 2_000; i++) {
      more.task(20_000 + i, 10, 1, 1, random.nextInt(1_000_000_000));
    }
    zstd.write(more.bytes());
    Estimation one = only(write(ID + ".zstd.inprogress", bytes.toByteArray()));
    assertThat(one.tasks()).isGreaterThan(4);
    assertThat(one.notes().get(0)).contains("cut off");
  }

  @Test
  void shouldSayThatAnApplicationStillRuns() throws IOException {
    Estimation one = only(write(ID + ".inprogress", log().waitingJob().bytes()));
    assertThat(one.notes()).singleElement().asString().contains("still runs");
    assertThat(one.verdict()).isEqualTo(Verdict.WORTH_A_PILOT);
  }

  /** The lines of a log in the order of the numbers of its files, not of their names. */
  private void roll(String name, Events events, String codec, int... parts) throws IOException {
    List<String> lines = events.lines();
    for (int i = 0; i < parts.length; i++) {
      int from = lines.size() * i / parts.length;
      int to = lines.size() * (i + 1) / parts.length;
      byte[] text =
          (String.join("\n", lines.subList(from, to)) + "\n").getBytes(StandardCharsets.UTF_8);
      if (!codec.isEmpty()) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = codec(codec.substring(1)).compressedOutputStream(bytes)) {
          out.write(text);
        }
        text = bytes.toByteArray();
      }
      write("eventlog_v2_" + name + "/events_" + parts[i] + "_" + name + codec, text);
    }
    write("eventlog_v2_" + name + "/appstatus_" + name, new byte[0]);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".zstd"})
  void shouldReadARollingLogInTheOrderOfNumbers(String codec) throws IOException {
    Events events = log().waitingJob().end(21_000);
    roll(ID, events, codec, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    Estimation one = only(directory.resolve("eventlog_v2_" + ID));
    assertThat(one.seconds()).isEqualTo(20);
    assertThat(one.tasks()).isEqualTo(4);
    assertThat(one.waitingAtMost()).isCloseTo(0.2, within(1e-9));
    assertThat(one.notes()).isEmpty();
    assertThat(one.verdict()).isEqualTo(Verdict.WORTH_A_PILOT);
  }

  /** Only what follows the last compacted file counts, and it has lost tasks. */
  @Test
  void shouldGiveNoVerdictForACompactedLog() throws IOException {
    roll(ID, log().waitingJob(), "", 1, 2, 10);
    String folder = "eventlog_v2_" + ID + "/";
    write(folder + "events_9_" + ID + ".zstd.compact", log().bytes(codec("zstd")));
    write(folder + "events_2_" + ID + ".compact", log().waitingJob().bytes());
    Estimation one = only(directory.resolve(folder));
    assertThat(one.verdict()).isEqualTo(Verdict.NONE);
    assertThat(one.why()).contains("incomplete", "compacted");
    // The end of the log of three files, in the last of them.
    assertThat(one.tasks()).isEqualTo(3);
  }

  /** The history server compacts now, or was stopped while it did. */
  @Test
  void shouldPassOverACompactedFileThatIsNotWhole() throws IOException {
    roll(ID, log().waitingJob().end(21_000), ".zstd", 1, 2, 3);
    String unfinished = "events_2_" + ID + ".zstd.compact.inprogress";
    write("eventlog_v2_" + ID + "/" + unfinished, log().waitingJob().bytes());
    Estimation one = only(directory.resolve("eventlog_v2_" + ID));
    assertThat(one.tasks()).isEqualTo(4);
    assertThat(one.verdict()).as(one.why()).isEqualTo(Verdict.WORTH_A_PILOT);
  }

  @Test
  void shouldGiveNoVerdictWhenAFileOfARollingLogIsMissing() throws IOException {
    roll(ID, log().waitingJob(), "", 1, 3);
    Estimation one = only(directory.resolve("eventlog_v2_" + ID));
    assertThat(one.verdict()).isEqualTo(Verdict.NONE);
    assertThat(one.why()).contains("its file of events 2 is missing");
  }

  @Test
  void shouldRankTheAttemptsOfApplicationsInADirectory() throws IOException {
    write(
        "app-1",
        Events.of("3.5.9", "app-1", "", 2, 1)
            .job(0, 0)
            .task(0, 99_000, 10, 1, 1_000)
            .jobEnd(0, 99_000)
            .end(99_000)
            .bytes());
    write(ID + "_1", Events.of("4.0.4", ID, "1", 2, 1).waitingJob().end(21_000).bytes());
    Events second = Events.of("4.0.4", ID, "2", 2, 1).waitingJob();
    second.task(1, 20_000, 9, 9, 1, 1_000, "");
    roll(ID + "_2", second.end(30_000), "", 1, 2);
    write(".hidden", log().bytes());
    write("README", "no log\n".getBytes(StandardCharsets.UTF_8));
    write("folder/app-9", log().waitingJob().bytes());

    Report report = run(directory);
    assertThat(report.applications())
        .extracting(one -> one.id() + "/" + one.attempt())
        .containsExactly(ID + "/2", ID + "/1", "app-1/");
    assertThat(report.applications().get(2).why())
        .startsWith("not worth it: tasks wait 0.0 % of their time; ");
    assertThat(report.applications().get(2).notes()).anyMatch(note -> note.contains("SPARK-54536"));
    assertThat(report.notRead()).containsOnlyKeys("file:" + directory.resolve("README"));
    assertThat(report.text())
        .contains(
            "application_1700000000000_0001 attempt 2 job, Spark 4.0.4",
            "not read: ",
            "as a batch, count as one");
  }

  @Test
  void shouldReadALogOnceAlthoughItIsNamedTwice() throws IOException {
    Path log = write(ID, log().waitingJob().bytes());
    assertThat(run(log.toString(), directory.toString()).applications()).hasSize(1);
  }

  @Test
  void shouldReadTheDirectoryOfTheSettings() throws IOException {
    write(ID, log().waitingJob().bytes());
    settings.setProperty("spark.eventLog.dir", directory.toUri().toString());
    assertThat(run().applications()).hasSize(1);
    settings.setProperty("spark.eventLog.dir", directory.toString());
    assertThat(run().applications()).hasSize(1);
  }

  @Test
  void shouldNameTheKeyTheValueAndWhatIsAllowed() throws IOException {
    String none = directory.resolve("none").toString();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> run(none))
        .withMessageContainingAll("key=LOG", "value=" + none, "allowed=");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> run(directory))
        .withMessageContainingAll("key=LOG", "value=" + directory, "no log is in it");
    settings.setProperty("spark.eventLog.dir", "nosuchscheme://x/y");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> run())
        .withMessageContainingAll("key=spark.eventLog.dir", "nosuchscheme", "allowed=");
    Estimate estimate = new Estimate(settings, progress::add, () -> nowNs);
    for (String link : List.of("25", "0g", "fast", "-1g", "25g\n", "")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> estimate.run(List.of(none), List.of(), link))
          .withMessageContainingAll("key=--link", "value=" + link, "allowed=");
    }
    Path report = write("report.json", "{}".getBytes(StandardCharsets.UTF_8));
    for (Path file : List.of(report, Path.of(none))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> estimate.run(List.of(none), List.of(file), null))
          .withMessageContainingAll("key=--costs", "value=" + file, "allowed=");
    }
  }

  @Test
  void shouldTakeTheSlotsFromCoresAndCpusOfTasks() throws IOException {
    Events events = log().settings("'spark.task.cpus':'2'").executor("a", 4, 0);
    events.job(0, 0).stage(0, 0);
    // Four tasks at once would be more than the two slots of executor a, so half of them follow.
    for (int i = 0; i < 4; i++) {
      events.task(0, 10_000, i < 2 ? 10_000 : 0, 1, 1_000);
    }
    Estimation one = only(write(ID, events.stageEnd(0, 0).jobEnd(0, 10_000).end(10_000).bytes()));
    assertThat(one.waitingAtMost()).isCloseTo(0.5, within(1e-9));
  }

  /** As with two GPUs for eight cores. */
  @Test
  void shouldReplayOnNoMoreSlotsThanTheStageHad() throws IOException {
    Events events = log().executor("a", 8, 0).job(0, 0).stage(0, 0);
    for (int i = 0; i < 8; i++) {
      // The driver notes an end after the next launch.
      events.task(i / 2 * 10_000L, 10_005, 5_000, 1, 1_000);
    }
    Estimation one = only(write(ID, events.stageEnd(0, 0).jobEnd(0, 40_005).end(40_000).bytes()));
    assertThat(one.waitingAtMost()).isCloseTo(0.5, within(0.001));
  }

  /** Spark's queue was full: an idle hour is not the time of a job. */
  @Test
  void shouldCountOnlyTheStagesOfAJobWhoseEndIsMissing() throws IOException {
    Events events = log().executor("a", 1, 0).job(0, 0).stage(0, 0);
    events.task(0, 10_000, 5_000, 1, 1_000).stageEnd(0, 0).job(1, 3_600_000).stage(0, 1);
    events.task(3_600_000, 10_000, 5_000, 1, 1_000);
    String last = events.lines().remove(events.lines().size() - 1);
    events.add(last.replace("\"Stage Attempt ID\":0", "\"Stage Attempt ID\":1"));
    events.stageEnd(0, 1).jobEnd(1, 3_610_000).end(3_610_000);
    Estimation one = only(write(ID, events.bytes()));
    assertThat(one.seconds()).isEqualTo(20);
    assertThat(one.waitingAtMost()).isCloseTo(0.5, within(1e-9));
    assertThat(one.notes())
        .contains("jobs whose end is missing: 1; of these only the stages count");
  }

  @Test
  void shouldCountAndNameTasksWithoutMetrics() throws IOException {
    Events events = log().waitingJob().taskWithoutMetrics(0, 10).taskWithoutMetrics(5, 10);
    Estimation one = only(write(ID, events.end(21_000).bytes()));
    assertThat(one.tasks()).isEqualTo(6);
    assertThat(one.notes())
        .singleElement()
        .asString()
        .isEqualTo("tasks without metrics count as if they had not waited: {stage 0.0=2}");
  }

  /** The second attempt takes 10 s after an hour, in which no stage ran. */
  @Test
  void shouldTreatAttemptsOfStagesAsStages() throws IOException {
    Events events = log().waitingJob().task(3_600_000, 10_000, 10_000, 1, 1_000);
    String last = events.lines().remove(events.lines().size() - 1);
    events.add(last.replace("\"Stage Attempt ID\":0", "\"Stage Attempt ID\":1"));
    events.job(1, 3_600_000).stageEnd(0, 1).jobEnd(1, 3_610_000);
    Estimation one = only(write(ID, events.end(3_610_000).bytes()));
    assertThat(one.seconds()).isEqualTo(30);
    assertThat(one.waitingAtMost()).isCloseTo((4 + 10) / 30.0, within(1e-9));
  }

  /** An hour without a slot, as while other stages have them. */
  @Test
  void shouldNotCountTheTimeInWhichAStageHadNoSlotAsWaiting() throws IOException {
    Events events = log().executor("a", 1, 0).job(0, 0).stage(0, 0);
    events.task(0, 0, 10_000, 5_000, 1, 4_000, "").task(0, 3_600_000, 10_000, 5_000, 1, 4_000, "");
    events.stageEnd(0, 0).jobEnd(0, 3_610_000);
    Estimation one = only(write(ID, events.end(3_610_000).bytes()));
    assertThat(one.waitingAtMost()).isLessThan(0.003);
  }

  /** As of a task whose speculative copy was faster. */
  @Test
  void shouldNotCountTasksThatEndAfterTheirStage() throws IOException {
    Events events = log().executor("a", 1, 0).job(0, 0).stage(0, 0);
    events.task(0, 0, 20_000, 0, 1, 4_000, "").stageEnd(0, 0);
    events.task(0, 0, 20_010, 19_000, 1, 4_000, "").jobEnd(0, 20_010);
    Estimation one = only(write(ID, events.end(20_010).bytes()));
    assertThat(one.tasks()).isEqualTo(2);
    assertThat(one.waitingAtMost()).isZero();
  }

  /** Two stages of 10 s at the same time, each of which waits for half of it. */
  @Test
  void shouldNotSaveMoreThanTheTimeOfStagesThatRunTogether() throws IOException {
    Events events = log().job(0, 0);
    events.task(0, 0, 10_000, 9_000, 1, 1_000, "").task(1, 0, 10_000, 9_000, 1, 1_000, "");
    Estimation one = only(write(ID, events.jobEnd(0, 10_000).end(10_000).bytes()));
    assertThat(one.waitingAtMost()).isEqualTo(1);
    assertThat(one.high()).isEqualTo(1);
    // Half of what the faster transfer explains, as of one of both.
    assertThat(one.likely()).isBetween(0.2, 0.45);
  }

  /** Blocks of push-based shuffle are counted among the remote ones, too. */
  @Test
  void shouldLeaveOutMergedBlocks() throws IOException {
    String merged =
        ",'Push Based Shuffle':{'Merged Remote Blocks Fetched':60,'Merged Remote Bytes Read':"
            + "600000,'Merged Remote Chunks Fetched':6}";
    Events events = log().settings("'spark.shuffle.service.enabled':'true'").job(0, 0);
    events.task(0, 0, 10_000, 0, 100, 1_000_000, merged);
    Estimation one = only(write(ID, events.jobEnd(0, 10_000).end(10_000).bytes()));
    assertThat(one.remoteBytes()).isEqualTo(400_000);
    assertThat(one.remoteBlocks()).isEqualTo(40);
    assertThat(one.notes()).hasSize(2);
    assertThat(one.notes().get(0)).startsWith("0.6 MB in merged blocks");
    assertThat(one.notes().get(1)).startsWith("the CPU times are too good: a shuffle service");
  }

  @Test
  void shouldTakeAbsentFieldsAsZero() throws IOException {
    Events events =
        log()
            .job(0, 0)
            .add(
                "{'Event':'SparkListenerTaskEnd','Stage ID':0,'Task Info':{'Launch Time':%d},"
                    + "'Task Metrics':{'Shuffle Read Metrics':{'Remote Bytes Read':null}}}",
                Events.START_MS)
            .add("{'Event':'SparkListenerTaskEnd'}")
            .jobEnd(0, 1_000);
    Estimation one = only(write(ID, events.end(1_000).bytes()));
    assertThat(one.tasks()).isEqualTo(2);
    assertThat(one.why()).isEqualTo("not worth it: no block came from another executor");
  }

  @Test
  void shouldSayThatALogWithoutTasksHasNoVerdict() throws IOException {
    Estimation one = only(write("local-1", log().end(5_000).bytes()));
    assertThat(one.verdict()).isEqualTo(Verdict.NONE);
    assertThat(one.why()).contains("no task has ended");
  }

  @Test
  void shouldNotEstimateALogThatWasWrittenWithThisPlugIn() throws IOException {
    String manager = "'spark.shuffle.manager':'org.sparkrdma.shuffle.RdmaShuffleManager'";
    String plugins = "'spark.plugins':'a.B,org.sparkrdma.shuffle.RdmaPlugin'";
    String event = "{'Event':'org.sparkrdma.shuffle.ui.RdmaShuffleEvent','schema':1}";
    for (Events events :
        List.of(log().settings(manager), log().settings(plugins), log().add(event))) {
      Estimation one = only(write(ID, events.waitingJob().end(21_000).bytes()));
      assertThat(one.verdict()).isEqualTo(Verdict.NONE);
      assertThat(one.why()).contains("ran with this plug-in");
      assertThat(one.why()).doesNotContain("%");
      assertThat(one.notes()).isEmpty();
    }
  }

  @Test
  void shouldNameAnotherShuffleManager() throws IOException {
    Events events = log().settings("'spark.shuffle.manager':'org.example.Remote'").waitingJob();
    Estimation remote = only(write(ID, events.end(21_000).bytes()));
    assertThat(remote.verdict()).isEqualTo(Verdict.NONE);
    assertThat(remote.why()).contains("fetched by org.example.Remote");
    String rapids = "com.nvidia.spark.rapids.spark420.RapidsShuffleManager";
    events.settings("'spark.shuffle.manager':'" + rapids + "','spark.rapids.shuffle.mode':'UCX'");
    assertThat(only(write(ID, events.bytes())).why()).contains("fetched by UCX");
    String comet = "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager";
    for (String spark : List.of("sort", comet)) {
      events.settings("'spark.shuffle.manager':'" + spark + "'");
      Estimation own = only(write(ID, events.bytes()));
      assertThat(own.verdict()).as(spark).isNotEqualTo(Verdict.NONE);
      assertThat(own.notes()).as(spark).isEmpty();
    }
  }

  /** The first step of a pilot. */
  @Test
  void shouldEstimateALogOfThePlugInThatWasOff() throws IOException {
    String off =
        "'spark.shuffle.manager':'org.sparkrdma.shuffle.RdmaShuffleManager',"
            + "'spark.shuffle.rdma.mode':'OFF'";
    Events events = log().settings(off).waitingJob().end(21_000);
    assertThat(only(write(ID, events.bytes())).verdict()).isNotEqualTo(Verdict.NONE);
    events.settings(
        "'spark.shuffle.manager':'org.example.Remote','spark.shuffle.rdma.mode':'off',"
            + "'spark.plugins':'org.sparkrdma.shuffle.RdmaPlugin'");
    assertThat(only(write(ID, events.bytes())).why()).contains("fetched by org.example.Remote");
  }

  @Test
  void shouldReadOnAfterALineThatIsNoJson() throws IOException {
    Events events = log().add("{'Event':'SparkListenerTaskEnd','Stage").waitingJob().end(21_000);
    Estimation one = only(write(ID, events.bytes()));
    assertThat(one.tasks()).isEqualTo(4);
    assertThat(one.notes()).containsExactly("lines that could not be read: 1");
  }

  @Test
  void shouldLimitTheSavingByTheLink() throws IOException {
    Path log = write(ID, log().waitingJob().end(21_000).bytes());
    Estimate estimate = new Estimate(settings, progress::add, () -> nowNs);
    Report report = estimate.run(List.of(log.toString()), List.of(), "0.8m");
    // The host gets 1.6 MB at 0.1 MB/s, so 16 s of its 20 are needed, and 4 s of each task's 10.
    assertThat(report.applications().get(0).networkFloor()).isCloseTo(0.8, within(1e-9));
    assertThat(report.applications().get(0).waitingAtMost()).isCloseTo(0.2, within(1e-9));
    report = estimate.run(List.of(log.toString()), List.of(), "0.7m");
    assertThat(report.applications().get(0).waitingAtMost()).isLessThan(0.1);
    assertThat(report.text()).contains("network: needs 91.4 %");
  }

  @Test
  void shouldReportTheProgressOfLongLogs() throws IOException {
    Path log = write(ID, log().waitingJob().end(21_000).bytes());
    run(log);
    assertThat(progress).isEmpty();
    Estimate slow = new Estimate(settings, progress::add, () -> nowNs += 6_000_000_000L);
    slow.run(List.of(log.toString()), List.of(), null);
    assertThat(progress)
        .isNotEmpty()
        .allMatch(line -> line.matches("Read .* of events, now in .*" + ID));
  }

  @Test
  void shouldPassTheSettingsOfHadoop() throws IOException {
    settings.setProperty("spark.hadoop.fs.other.impl", "org.apache.hadoop.fs.LocalFileSystem");
    write(ID, log().waitingJob().bytes());
    // Hadoop reaches the class, which then refuses the scheme.
    assertThatIllegalArgumentException()
        .isThrownBy(() -> run("other://" + directory))
        .withMessageContaining("Wrong FS");
  }
}
