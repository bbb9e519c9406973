// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.standin;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.directory.ScriptedDriver;
import org.sparkrdma.shuffle.directory.SlowDriver;
import org.sparkrdma.shuffle.fetch.BlockManagerAddress;
import org.sparkrdma.shuffle.thread.ControlThread;

@Timeout(60)
class StandInsTest {
  private static final String SELF = "9";
  private final ScriptedDriver driver = new ScriptedDriver();
  private final ControlThread control = new ControlThread();
  private final AtomicLong nowNs = new AtomicLong();
  private final DirectoryClient directory = driver.client(control, nowNs::get);
  private final StandIns standIns = new StandIns(directory.endpoints(), SELF, nowNs::get);

  @AfterEach
  void close() {
    directory.close();
    control.shutdownNow();
  }

  private static Endpoint endpoint(String executorId, String host) {
    return Endpoints.of(executorId, host, executorId.hashCode());
  }

  private void publish(String host, String... executorIds) {
    for (String executorId : executorIds) {
      driver.publish(endpoint(executorId, host));
    }
  }

  private String find(String executorId, String host, int stage) {
    return standIns
        .find(new BlockManagerAddress(executorId, host, 7_337), stage)
        .join()
        .map(Endpoint::executorId)
        .orElse("TCP");
  }

  /** The control thread works in order. */
  private void awaitQueries() throws Exception {
    control.submit(() -> {}).get();
  }

  @Test
  void shouldUseAnExecutorWhileItLivesAndThenAnotherOneOnItsHost() {
    publish("a", "1", "2", SELF);
    publish("b", "3");
    assertThat(find("1", "a", 0)).isEqualTo("1");
    driver.remove("1");
    assertThat(find("1", "a", 0)).as("not known yet").isEqualTo("1");
    assertThat(find("1", "a", 1)).isEqualTo("2");
    driver.remove("2");
    assertThat(find("1", "a", 2)).as("this executor is never its own peer").isEqualTo("TCP");
    publish("a", "4");
    assertThat(find("2", "a", 3)).as("it has started there").isEqualTo("4");
    assertThat(find("3", "b", 3)).isEqualTo("3");
    assertThat(driver.queries()).as("one for each stage").isEqualTo(4);
  }

  @Test
  void shouldAskOnceForAllTasksOfAStageAndForNoExecutorThatHasEnded() throws Exception {
    publish("a", "1000");
    for (int i = 0; i < 100; i++) {
      publish("a", Integer.toString(i));
      driver.remove(Integer.toString(i));
    }
    CountDownLatch busy = new CountDownLatch(1);
    var unused =
        control.submit(
            () -> {
              busy.await();
              return null;
            });
    List<CompletableFuture<Optional<Endpoint>>> found = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      BlockManagerAddress peer = new BlockManagerAddress(Integer.toString(i), "a", 7_337);
      found.add(standIns.find(peer, 5));
    }
    assertThat(found).noneMatch(CompletableFuture::isDone);
    busy.countDown();
    for (CompletableFuture<Optional<Endpoint>> one : found) {
      assertThat(one.join().orElseThrow().executorId()).isEqualTo("1000");
    }
    assertThat(find("7", "a", 5)).isEqualTo("1000");
    awaitQueries();
    assertThat(driver.queries()).isEqualTo(1);
  }

  @Test
  void shouldFindAStandInAgainWhenMoreExecutorsHaveEndedThanAreRemembered() throws Exception {
    publish("a", "5000");
    assertThat(find("0", "a", 0)).isEqualTo("5000");
    IntStream.range(1_000, 2_000).mapToObj(Integer::toString).forEach(driver::remove);
    assertThat(find("1", "a", 1)).isEqualTo("5000");
    driver.beSilent(true);
    assertThat(find("0", "a", 1)).as("the driver does not answer").isEqualTo("TCP");
    driver.beSilent(false);
    nowNs.addAndGet(Duration.ofSeconds(5).toNanos());
    find("0", "a", 2);
    awaitQueries();
    assertThat(find("0", "a", 3)).isEqualTo("5000");
    awaitQueries();
    int queries = driver.queries();
    assertThat(find("0", "a", 3)).isEqualTo("5000");
    assertThat(driver.queries()).as("without a query").isEqualTo(queries);
  }

  /** It works on a task's thread, for each request. */
  @Test
  void shouldNotLookAtExecutorsOfOtherHosts() {
    publish("a", "1", "2");
    driver.remove("1");
    long few = bytesOfAFind(0);
    for (int i = 1_000; i < 6_000; i++) {
      publish("host" + i / 10, Integer.toString(i));
    }
    assertThat(bytesOfAFind(1)).as("memory of a look-up").isLessThan(few + 1_000);
  }

  private long bytesOfAFind(int stage) {
    assertThat(find("1", "a", stage)).isEqualTo("2");
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThat(find("1", "a", stage)).isEqualTo("2");
    return threads.getCurrentThreadAllocatedBytes() - before;
  }

  /** Else each stage waits for the whole time-out of a look-up. */
  @Test
  void shouldNotWaitInEachStageForADriverThatIsKnownToBeSilent() throws Exception {
    publish("a", "1", "2");
    assertThat(find("1", "a", 0)).isEqualTo("1");
    driver.beSilent(true);
    assertThat(find("1", "a", 1)).as("after a wait for the driver").isEqualTo("1");
    CountDownLatch busy = new CountDownLatch(1);
    var unused =
        control.submit(
            () -> {
              busy.await();
              return null;
            });
    int queries = driver.queries();
    for (int stage = 2; stage < 10; stage++) {
      var found = standIns.find(new BlockManagerAddress("1", "a", 7_337), stage);
      assertThat(found).isDone();
      assertThat(found.join()).isPresent();
    }
    busy.countDown();
    awaitQueries();
    assertThat(driver.queries()).isEqualTo(queries);
    driver.beSilent(false);
    nowNs.addAndGet(Duration.ofSeconds(5).toNanos());
    assertThat(find("1", "a", 10)).isEqualTo("1");
    awaitQueries();
    driver.remove("1");
    assertThat(find("1", "a", 11)).as("it answers again").isEqualTo("2");
  }

  @Test
  void shouldNotWaitInEachStageForADriverThatAnswersSlowly() {
    SlowDriver slow = new SlowDriver(driver);
    slow.setAnswerTime(Duration.ofMillis(4_900));
    publish("a", "1", "2");
    StandIns beside = new StandIns(slow.endpoints(), SELF, slow::nowNs);
    BlockManagerAddress peer = new BlockManagerAddress("1", "a", 7_337);
    AtomicLong lostNs = new AtomicLong();
    List<String> found = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      int stage = i;
      slow.after(
          Duration.ofSeconds(3 * stage),
          () -> {
            long sinceNs = slow.nowNs();
            var unused =
                beside
                    .find(peer, stage)
                    .thenAccept(
                        endpoint -> {
                          lostNs.addAndGet(slow.nowNs() - sinceNs);
                          found.add(endpoint.map(Endpoint::executorId).orElse("TCP"));
                        });
          });
    }
    slow.after(Duration.ofSeconds(27), () -> driver.remove("1"));
    slow.pass(Duration.ofMinutes(2));
    assertThat(lostNs.get()).isLessThanOrEqualTo(Duration.ofSeconds(1).toNanos());
    assertThat(found.subList(0, 2)).containsOnly("TCP");
    assertThat(found.subList(2, 10)).as("the late answer counts").containsOnly("1");
    assertThat(found.subList(12, 20)).as("so does the end of it").containsOnly("2");
  }

  @Test
  void shouldNotConnectAgainToAnExecutorThatFailsBeforeTheDriverHasHadTimeToNotice()
      throws Exception {
    publish("a", "1", "2");
    assertThat(find("1", "a", 0)).isEqualTo("1");
    nowNs.addAndGet(Duration.ofMinutes(1).toNanos());
    standIns.onFault(endpoint("1", "a"));
    awaitQueries();
    assertThat(find("1", "a", 0)).as("perhaps it has ended").isEqualTo("2");
    standIns.onFault(endpoint("2", "a"));
    assertThat(find("1", "a", 0)).as("so has its stand-in").isEqualTo("TCP");
    nowNs.addAndGet(StandIns.SUSPECT_NS);
    find("1", "a", 0);
    awaitQueries();
    assertThat(find("1", "a", 0)).as("the driver still knows it").isEqualTo("1");
  }

  @Test
  void shouldLeaveAnExecutorWithoutRdmaAndOneWithoutANumberToTcp() {
    publish("a", "1");
    driver.withdraw("2");
    assertThat(find("2", "a", 0)).as("it lives").isEqualTo("TCP");
    assertThat(find("shuffle-push-merger", "a", 0)).isEqualTo("TCP");
    assertThat(find("007", "a", 0)).isEqualTo("TCP");
    assertThat(find("3", "a", 0)).as("the driver has forgotten it").isEqualTo("1");
  }

  @Test
  void shouldChooseTheSameForAllReadersAndSpreadEndedExecutors() {
    List<Endpoint> four = new ArrayList<>();
    for (int i = 1; i <= 4; i++) {
      four.add(endpoint(Integer.toString(i), "a"));
    }
    List<Endpoint> five = new ArrayList<>(four);
    five.add(0, endpoint("5", "a"));
    Set<String> used = new HashSet<>();
    int moved = 0;
    for (int ended = 100; ended < 200; ended++) {
      String id = Integer.toString(ended);
      Endpoint chosen = StandIns.choose(id, SELF, four).orElseThrow();
      assertThat(
              StandIns.choose(
                  id, "77", List.of(four.get(3), four.get(0), four.get(1), four.get(2))))
          .contains(chosen);
      used.add(chosen.executorId());
      moved += StandIns.choose(id, SELF, five).orElseThrow().equals(chosen) ? 0 : 1;
      assertThat(StandIns.choose(id, chosen.executorId(), four).orElseThrow()).isNotEqualTo(chosen);
    }
    assertThat(used).containsExactlyInAnyOrder("1", "2", "3", "4");
    assertThat(moved).as("to one that starts").isBetween(5, 40);
  }
}
