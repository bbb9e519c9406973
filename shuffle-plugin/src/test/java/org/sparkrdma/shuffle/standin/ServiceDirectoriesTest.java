// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.standin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.SparkConf;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.fetch.FakeSparkClient;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import org.sparkrdma.shuffle.pinned.Mounts;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.wire.Locate;
import scala.Option;

@Timeout(60)
class ServiceDirectoriesTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final long SECOND_NS = Duration.ofSeconds(1).toNanos();
  private static final int SEVEN = Locate.owner("7");

  @TempDir private Path root;

  /** Work of the threads, which the test runs. */
  private final ArrayDeque<Runnable> work = new ArrayDeque<>();

  private final Service spark = new Service();
  private Path link;
  private boolean closed;
  private long nowNs;

  /** Names directories, or does not answer. */
  private static final class Service extends FakeSparkClient {
    private final List<String> asked = new ArrayList<>();
    private final Map<String, String[]> known = new HashMap<>();
    private Runnable connect = () -> {};

    @Override
    public void getHostLocalDirs(
        String host,
        int port,
        String[] executorIds,
        CompletableFuture<Map<String, String[]>> answer) {
      asked.add(host + ":" + port + " " + String.join(",", executorIds));
      connect.run();
      String[] names = known.get(executorIds[0]);
      if (names == null) {
        answer.completeExceptionally(new IOException("Executor is not registered"));
      } else if (names.length > 0) {
        answer.complete(Map.of(executorIds[0], names));
      }
    }
  }

  @BeforeEach
  void mountDisks() throws IOException {
    Path file = root.resolve("proc/self/mountinfo");
    Files.createDirectories(file.getParent());
    Path disk = Files.createDirectory(root.resolve("disk")).toRealPath();
    link = Files.createSymbolicLink(root.resolve("link"), disk);
    Files.writeString(
        file,
        "22 1 0:18 / / rw - ext4 root rw\n"
            + "31 22 0:41 / /disk1 rw - xfs one rw\n"
            + "32 22 0:42 / /disk2 rw - xfs two rw\n"
            + ("33 22 0:43 / " + disk + " rw - xfs three rw\n"));
  }

  /** The rest is that of this executor. */
  @Test
  void shouldEndRdmaWhereAMethodOfSparkIsMissing() {
    spark.connect =
        () -> {
          throw new NoSuchMethodError("gone");
        };
    MissingLinks missing = new MissingLinks();
    SparkMapOutputs own = new SparkMapOutputs(null, List.of(), new SparkConf(false), true, missing);
    var found = new StandInOutputs(own, directories(LONG)).indexDiskOf(SEVEN, 0, 1);
    work.remove().run();
    assertThat(found).isCompletedExceptionally();
    assertThat(missing.reason().orElseThrow()).contains("gone");
  }

  private ServiceDirectories directories(Duration timeout) {
    return new ServiceDirectories(
        spark,
        () -> BlockManagerId.apply("1", "host", 7_337, Option.empty()),
        one -> !closed && work.add(one),
        () -> Mounts.of(new SystemFiles(root)),
        List.of(Path.of("/disk1/a"), Path.of("/disk2/a"), Path.of("/disk2/b"), link),
        () -> nowNs,
        timeout);
  }

  private void runWork() {
    for (Runnable one = work.poll(); one != null; one = work.poll()) {
      one.run();
    }
  }

  @Test
  void shouldAskForOneExecutorACallAndKeepTheAnswer() {
    // As the JVM's clock may be.
    nowNs = -SECOND_NS;
    spark.known.put(
        "7", new String[] {"/disk2/x", "/disk1/x", "/disk2/y", "/disk3/x", link.toString()});
    ServiceDirectories directories = directories(LONG);
    CompletableFuture<OwnerDirectories> first = directories.find(SEVEN);
    assertThat(spark.asked).as("on a thread that may wait").isEmpty();
    assertThat(directories.find(SEVEN)).isSameAs(first);
    runWork();
    assertThat(first.join().names()).containsExactly(spark.known.get("7"));
    assertThat(first.join().disks())
        .as("own directories on the same mount, in turn; none on /disk3")
        .containsExactly(1, 0, 1, -1, 3);
    nowNs += Duration.ofDays(1).toNanos();
    assertThat(directories.find(SEVEN)).isSameAs(first);
    directories.find(Locate.owner("0"));
    runWork();
    assertThat(spark.asked).containsExactly("host:7337 7", "host:7337 0");
  }

  @Test
  void shouldAskForNobodyForLongerAndLongerWhileQuestionsFailAndLogEachAtInfo() {
    ServiceDirectories directories = directories(LONG);
    List<Long> askedAt = new ArrayList<>();
    spark.connect =
        () -> {
          askedAt.add(nowNs / SECOND_NS);
          nowNs += 20 * SECOND_NS;
        };
    try (CapturedLog log = CapturedLog.fromInfo("org.sparkrdma.shuffle.standin")) {
      for (int owner = 100; askedAt.size() < 7; owner++) {
        nowNs += SECOND_NS;
        CompletableFuture<OwnerDirectories> refused = directories.find(SEVEN);
        directories.find(owner);
        runWork();
        assertThat(refused).failsWithin(LONG).withThrowableThat().havingRootCause();
      }
      assertThat(log.warnings()).hasSize(7).first().asString().contains("executor 7", "registered");
    }
    assertThat(askedAt).containsExactly(1L, 31L, 71L, 131L, 231L, 411L, 731L);
    spark.known.put("7", new String[] {"/disk1/x"});
    nowNs += Duration.ofMinutes(5).toNanos();
    for (int i = 0; i < 2; i++) {
      directories.find(SEVEN);
      directories.find(Locate.owner("8"));
      runWork();
      nowNs += ServiceDirectories.FIRST_PAUSE_NS;
    }
    assertThat(spark.asked).endsWith("host:7337 7", "host:7337 8", "host:7337 8");
  }

  @Test
  void shouldFailInTimeWhenTheServiceDoesNotAnswerAndUseALateAnswer() {
    spark.known.put("7", new String[0]);
    ServiceDirectories directories = directories(Duration.ofMillis(20));
    CompletableFuture<OwnerDirectories> queued = directories.find(SEVEN);
    assertThat(queued).failsWithin(LONG);
    runWork();
    assertThat(spark.asked).as("its time is over").isEmpty();
    nowNs += ServiceDirectories.FIRST_PAUSE_NS;
    CompletableFuture<OwnerDirectories> unanswered = directories.find(SEVEN);
    runWork();
    assertThat(unanswered).failsWithin(LONG);
    nowNs += 2 * ServiceDirectories.FIRST_PAUSE_NS;
    spark.known.put("7", new String[] {"/disk1/x"});
    CompletableFuture<OwnerDirectories> late = directories.find(SEVEN);
    spark.connect = () -> assertThat(late).failsWithin(LONG);
    runWork();
    assertThat(directories.find(SEVEN).join().names()).containsExactly("/disk1/x");
    closed = true;
    CompletableFuture<OwnerDirectories> refused = directories.find(Locate.owner("8"));
    assertThat(refused).as("the executor stops").isCompletedExceptionally();
  }

  @Test
  void shouldForgetTheEarliestOfTooManyExecutorsAndLimitOpenQuestions() {
    ServiceDirectories directories = directories(LONG);
    for (int owner = 1; owner <= ServiceDirectories.MAX_OWNERS + 1; owner++) {
      spark.known.put(Locate.executorId(owner), new String[] {"/disk1/x"});
      directories.find(owner);
      runWork();
    }
    directories.find(1);
    runWork();
    assertThat(spark.asked).hasSize(ServiceDirectories.MAX_OWNERS + 2);
    for (int i = 0; i < ServiceDirectories.MAX_OPEN; i++) {
      assertThat(directories.find(10_000 + i)).isNotDone();
    }
    assertThat(directories.find(20_000)).as("of a peer that names any").isCompletedExceptionally();
  }
}
