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
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import org.sparkrdma.shuffle.pinned.Mounts;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.wire.Locate;
import scala.Option;

@Timeout(60)
class ServiceDirectoriesTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final int SEVEN = Locate.owner("7");

  @TempDir private Path root;

  /** Work of the threads, which the test runs. */
  private final ArrayDeque<Runnable> work = new ArrayDeque<>();

  private final Service spark = new Service();
  private List<Path> locals =
      List.of(Path.of("/disk1/a"), Path.of("/disk2/a"), Path.of("/disk2/b"));
  private boolean closed;
  private long nowNs;

  /** Names directories, or does not answer. */
  private static final class Service extends BlockStoreClient {
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

    @Override
    public void fetchBlocks(
        String host,
        int port,
        String executorId,
        String[] blockIds,
        BlockFetchingListener listener,
        DownloadFileManager files) {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void mountDisks() throws IOException {
    Path file = root.resolve("proc/self/mountinfo");
    Files.createDirectories(file.getParent());
    Files.writeString(
        file,
        "22 1 0:18 / / rw - ext4 root rw\n"
            + "31 22 0:41 / /disk1 rw - xfs one rw\n"
            + "32 22 0:42 / /disk2 rw - xfs two rw\n");
  }

  /** The rest is that of this executor. */
  @Test
  void shouldEndRdmaWhereAMemberOfSparkIsMissing() {
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
        locals,
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
    spark.known.put("7", new String[] {"/disk2/x", "/disk1/x", "/disk2/y", "/disk3/x"});
    ServiceDirectories directories = directories(LONG);
    CompletableFuture<OwnerDirectories> first = directories.find(SEVEN);
    assertThat(spark.asked).as("on a thread that may wait").isEmpty();
    assertThat(directories.find(SEVEN)).isSameAs(first);
    runWork();
    assertThat(first.join().names()).containsExactly(spark.known.get("7"));
    assertThat(first.join().disks())
        .as("own directories on the same mount, in turn; none on /disk3")
        .containsExactly(1, 0, 1, -1);
    nowNs += Duration.ofDays(1).toNanos();
    assertThat(directories.find(SEVEN)).isSameAs(first);
    directories.find(Locate.owner("0"));
    runWork();
    assertThat(spark.asked).containsExactly("host:7337 7", "host:7337 0");
  }

  @Test
  void shouldKeepARefusalForSecondsAndLogItOnceAtInfo() {
    ServiceDirectories directories = directories(LONG);
    try (CapturedLog log = CapturedLog.fromInfo("org.sparkrdma.shuffle.standin")) {
      for (int i = 0; i < 5; i++) {
        CompletableFuture<OwnerDirectories> refused = directories.find(SEVEN);
        runWork();
        assertThat(refused).failsWithin(LONG).withThrowableThat().havingRootCause();
        nowNs += ServiceDirectories.FIRST_PAUSE_NS / 5;
      }
      assertThat(log.warnings()).singleElement().asString().contains("executor 7", "registered");
    }
    assertThat(spark.asked).hasSize(1);
    spark.known.put("7", new String[] {"/disk1/x"});
    CompletableFuture<OwnerDirectories> later = directories.find(SEVEN);
    runWork();
    assertThat(later.join().names()).containsExactly("/disk1/x");
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
  void shouldAskLessAndLessOftenForAnyExecutorWhileQuestionsFail() {
    ServiceDirectories directories = directories(LONG);
    for (long callNs : List.of(0L, Duration.ofSeconds(120).toNanos())) {
      spark.asked.clear();
      spark.connect = () -> nowNs += callNs;
      long endNs = nowNs + Duration.ofHours(1).toNanos();
      for (int i = 0; nowNs < endNs; i++) {
        nowNs += Duration.ofSeconds(1).toNanos();
        for (int owner = i; owner < i + 100; owner++) {
          directories.find(1 + owner % 1_000);
        }
        runWork();
      }
      assertThat(spark.asked).as("calls of %s ns", callNs).hasSizeBetween(5, 20);
    }
    nowNs += Duration.ofMinutes(6).toNanos();
    spark.known.put("7", new String[] {"/disk1/x"});
    directories.find(SEVEN);
    runWork();
    CompletableFuture<OwnerDirectories> other = directories.find(Locate.owner("8"));
    runWork();
    assertThat(other).as("it answers again").isCompletedExceptionally();
    assertThat(spark.asked.subList(spark.asked.size() - 2, spark.asked.size()))
        .containsExactly("host:7337 7", "host:7337 8");
    spark.known.put("8", new String[] {"/disk1/x"});
    nowNs += Duration.ofSeconds(10).toNanos();
    directories.find(Locate.owner("8"));
    runWork();
    assertThat(directories.find(Locate.owner("8"))).as("ten seconds later").isCompleted();
  }

  @Test
  void shouldUseTheDiskBehindASymbolicLink() throws IOException {
    Path disk = Files.createDirectories(root.toRealPath().resolve("disk"));
    Path ended = Files.createDirectory(disk.resolve("ended"));
    Path own =
        Files.createSymbolicLink(root.resolve("own"), Files.createDirectory(disk.resolve("a")));
    Path link = Files.createSymbolicLink(root.resolve("link"), ended);
    Files.writeString(
        root.resolve("proc/self/mountinfo"), "40 1 0:50 / " + disk + " rw - xfs three rw\n");
    locals = List.of(Path.of("/"), own);
    spark.known.put("7", new String[] {link.toString(), root.toString()});
    CompletableFuture<OwnerDirectories> found = directories(LONG).find(SEVEN);
    runWork();
    assertThat(found.join().disks()).containsExactly(1, 0);
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
