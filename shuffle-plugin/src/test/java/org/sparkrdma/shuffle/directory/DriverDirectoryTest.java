// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiPredicate;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.LocalSpark;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.thread.ControlThread;

/** Tests through Spark's own RPC. */
@Timeout(60)
class DriverDirectoryTest {
  private static final Duration WAIT = Duration.ofSeconds(30);

  private final JavaSparkContext spark = new JavaSparkContext(LocalSpark.conf(1));
  private final SparkEnv env = SparkEnv.get();
  private final ControlThread control = new ControlThread();
  private final DirectoryClient client = new DirectoryClient(env, WAIT, WAIT, control);

  @AfterEach
  void close() {
    client.close();
    control.shutdownNow();
    spark.close();
  }

  private DriverDirectory open(
      BiPredicate<String, Map<String, Object>> reports, MissingLinks missing) {
    return new DriverDirectory(env.conf(), env.rpcEnv(), WAIT, "", reports, missing);
  }

  @Test
  void shouldFindAnEndpointUntilTheExecutorIsRemoved() {
    try (DriverDirectory directory = open((executorId, values) -> true, new MissingLinks());
        DirectoryClient other = new DirectoryClient(env, WAIT, WAIT, control)) {
      assertThat(client.publish(DirectoryServiceTest.endpoint("7", 70)).join()).isTrue();
      assertThat(other.find("7").join().orElseThrow().incarnation()).isEqualTo(70);
      directory.remove("7");
      assertThat(other.find("8").join()).isEmpty();
      assertThat(other.find("7").join()).isEmpty();
    }
  }

  @Test
  void shouldPublishOnceThereIsADirectory() {
    var published = client.publish(DirectoryServiceTest.endpoint("7", 70));
    assertThat(client.isAbsent()).as("so that no task waits").isTrue();
    assertThat(client.find("7").join()).isEmpty();
    try (DriverDirectory directory = open((executorId, values) -> true, new MissingLinks())) {
      assertThat(directory).isNotNull();
      assertThat(published.join()).isTrue();
    }
  }

  /**
   * Spark's dispatcher takes it for fatal: it would answer nothing, and the executor would wait.
   */
  @Test
  void shouldAnswerAlsoWhereAMethodOfSparkIsMissing() throws Exception {
    MissingLinks missing = new MissingLinks();
    BiPredicate<String, Map<String, Object>> reports =
        (executorId, values) -> {
          if (!missing.any()) {
            throw new NoSuchMethodError("gone");
          }
          return true;
        };
    List<Object> report = new ArrayList<>(List.of("7", "state", "up"));
    RpcDriverCall driver = new RpcDriverCall(env.conf(), env.rpcEnv(), WAIT);
    AtomicLong nowNs = new AtomicLong();
    try (DriverDirectory directory = open(reports, missing);
        DirectoryClient reader = new DirectoryClient(driver, WAIT, nowNs::get, control)) {
      assertThat(client.publish(DirectoryServiceTest.endpoint("7", 70)).join()).isTrue();
      assertThat(reader.find("7").join()).isPresent();
      assertThatThrownBy(
              () -> driver.ask(new ArrayList<>(List.of(DirectoryService.REPORT, report))))
          .hasRootCauseInstanceOf(NoSuchMethodError.class);
      assertThat(missing.reason().orElseThrow()).contains("gone");
      assertThat(client.publish(DirectoryServiceTest.endpoint("9", 90)).join()).isTrue();
      assertThat(directory.executors()).containsExactlyInAnyOrder("7", "9");
      nowNs.set(TimeUnit.SECONDS.toNanos(5));
      control.submit(() -> reader.report("8", Map.of("state", "up"))).get();
      control.submit(() -> {}).get();
      assertThat(reader.find("7").join()).as("executors use TCP from then on").isEmpty();
      assertThat(reader.find("9").join()).isEmpty();
      assertThat(reader.endpoints().hasEnded("7")).isFalse();
    }
  }

  @Test
  void shouldIgnoreExecutorsOfAnEarlierDriverAtItsAddress() {
    SparkConf earlier = env.conf().clone();
    DirectoryName.choose(earlier);
    DirectoryName.choose(env.conf());
    try (DriverDirectory directory = open((executorId, values) -> true, new MissingLinks());
        DirectoryClient stale =
            new DirectoryClient(
                new RpcDriverCall(earlier, env.rpcEnv(), WAIT), WAIT, System::nanoTime, control)) {
      assertThat(directory).isNotNull();
      var published = stale.publish(DirectoryServiceTest.endpoint("7", 66));
      assertThat(stale.find("8").join()).isEmpty();
      assertThat(client.publish(DirectoryServiceTest.endpoint("7", 70)).join()).isTrue();
      assertThat(stale.find("7").join()).isEmpty();
      assertThat(client.find("7").join().orElseThrow().incarnation()).isEqualTo(70);
      assertThat(published).isNotDone();
    }
  }
}
