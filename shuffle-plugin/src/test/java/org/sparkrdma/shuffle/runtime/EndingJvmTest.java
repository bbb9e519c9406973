// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.LocalSpark;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.fetch.FakeSparkClient;
import org.sparkrdma.shuffle.fetch.FallbackThreads;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.fetch.RecordingListener;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ControlThread;
import org.sparkrdma.verbs.device.PortState;

@Tag("slow")
@Timeout(400)
class EndingJvmTest {
  @TempDir private Path directory;

  @Test
  void shouldRefuseNoBlockWhenTheProcessEndsWhileItsDeviceHangs() throws Exception {
    Path out = directory.resolve("out");
    List<String> command = JvmCommand.of(EndingJvm.class, List.of());
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    // It takes 4 s, and half a minute beside twelve processes that compute.
    boolean ended = process.waitFor(300, TimeUnit.SECONDS);
    process.destroyForcibly();
    String printed = Files.readString(out);
    assertThat(ended).as("it ends: %s", printed).isTrue();
    assertThat(printed).contains("answered=50 refused=0 state=STOPPED");
    // The hooks of Spark that follow wait for it, within the grace period of a container.
    Matcher close = Pattern.compile("closeMs=(\\d+)").matcher(printed);
    assertThat(close.find()).as(printed).isTrue();
    assertThat(Long.parseLong(close.group(1)))
        .as("it does not wait for the device")
        .isLessThan(EndingJvm.CLOSE_LIMIT.toMillis());
  }

  /**
   * A process with a running runtime whose device never closes; it ends while a task fetches.
   * Prints how long the runtime's close has taken in a shutdown hook, whether all blocks were
   * answered after that, and how many of them were refused by the plug-in.
   */
  static final class EndingJvm {
    private static final int REQUESTS = 50;

    static final Duration CLOSE_LIMIT = Duration.ofSeconds(15);

    private EndingJvm() {}

    public static void main(String[] args) throws InterruptedException {
      // Not closed: the process ends during its work.
      new JavaSparkContext(LocalSpark.conf(1));
      SparkEnv env = SparkEnv.get();
      ShuffleSettings settings = ShuffleSettings.defaults();
      ShuffleCounters counters = new ShuffleCounters();
      ControlThread control = new ControlThread();
      FakeEngine engine = new FakeEngine(PortState.ACTIVE);
      DirectoryClient directory =
          new DirectoryClient(env, settings.lookupTimeout(), settings.lookupWait(), control);
      RdmaRuntime runtime =
          new RdmaRuntime(
              env,
              new FakeSparkClient(),
              directory,
              new FallbackThreads(request -> {}),
              (peer, stage) -> directory.find(peer.executorId()),
              counters,
              new RdmaStart(
                  env,
                  settings,
                  (name, engineSettings) -> engine.choice(),
                  parts -> engine.transport(EndingJvm::neverEnd),
                  List.of()),
              new RdmaRuntime.Limits(Duration.ofSeconds(5), CLOSE_LIMIT, Duration.ofSeconds(1)),
              control,
              new MissingLinks());
      runtime.start();
      runtime.require(Duration.ofSeconds(30));

      CountDownLatch ending = new CountDownLatch(1);
      // Like Spark's executor, which stops its shuffle manager in its own shutdown hook.
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> {
                    ending.countDown();
                    long beginNs = System.nanoTime();
                    runtime.close();
                    long closeMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNs);
                    System.out.println("closeMs=" + closeMs);
                    fetchAndPrint(env, runtime);
                  }));
      new Thread(() -> System.exit(0)).start();
      ending.await();
    }

    private static void fetchAndPrint(SparkEnv env, RdmaRuntime runtime) {
      RecordingListener listener = new RecordingListener();
      for (int i = 0; i < REQUESTS; i++) {
        runtime
            .reads()
            .client(new FetchingTask(null))
            .fetchBlocks(
                "127.0.0.1",
                env.blockManager().blockManagerId().port(),
                "driver",
                new String[] {"shuffle_0_" + i + "_0"},
                listener,
                null);
      }
      try {
        int answered = listener.awaitAnswers(REQUESTS).size();
        // Spark's client answers every block, so the plug-in has refused those that failed.
        System.out.printf(
            "answered=%d refused=%d state=%s%n",
            answered, listener.failures().size(), runtime.state());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private static void neverEnd() {
      while (true) {
        try {
          TimeUnit.DAYS.sleep(1);
        } catch (InterruptedException e) {
          // A native call ignores interrupts as well.
        }
      }
    }
  }
}
