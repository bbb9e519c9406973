// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.LocalSpark;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/**
 * The start of RDMA in an executor that has few file descriptors free. A class of the JDK that is
 * initialised then would be unusable for the life of the JVM.
 */
@Tag("slow")
@Timeout(200)
class FewDescriptorsTest {
  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(ints = {4, 12, 40})
  void shouldStartRdmaOnceEnoughFileDescriptorsAreFree(int free) throws Exception {
    List<String> command =
        new ArrayList<>(List.of("bash", "-c", "ulimit -S -n 600; exec \"$@\"", "-"));
    // A JVM raises the limit to the hard one without this option.
    command.addAll(JvmCommand.of(FewDescriptorsJvm.class, List.of("-XX:-MaxFDLimit")));
    command.add(Integer.toString(free));
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(90, TimeUnit.SECONDS)).as("it ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(Files.readString(output))
        .contains("first state=RESTARTING")
        .contains("too few file descriptors are free")
        .contains("then state=UP mac=HmacSHA256")
        .doesNotContain("NoClassDefFoundError");
    assertThat(process.exitValue()).isZero();
  }

  /**
   * A process that starts RDMA as an executor does while it has so many file descriptors free as
   * its argument says, frees them when RDMA is off, and waits until RDMA is up. Prints the states.
   */
  static final class FewDescriptorsJvm {
    private FewDescriptorsJvm() {}

    public static void main(String[] args) throws Exception {
      SparkConf conf = LocalSpark.conf(1).set("spark.shuffle.rdma.engine", "soft");
      try (JavaSparkContext spark = new JavaSparkContext(conf)) {
        SparkEnv env = SparkEnv.get();
        RdmaRuntime runtime =
            RdmaRuntime.of(
                env,
                (IndexShuffleBlockResolver) env.shuffleManager().shuffleBlockResolver(),
                ShuffleSettings.of(spark.getConf()),
                new ShuffleCounters(),
                List.of(),
                new MissingLinks());
        List<FileInputStream> held = takeAllBut(Integer.parseInt(args[0]));
        runtime.start();
        List<String> first = runtime.awaitStart(Duration.ofSeconds(60));
        for (FileInputStream each : held) {
          each.close();
        }
        System.out.println("first state=" + runtime.state() + " " + first);
        while (runtime.state() != State.UP) {
          Thread.onSpinWait();
        }
        System.out.println("then state=UP mac=" + Mac.getInstance("HmacSHA256").getAlgorithm());
        runtime.close();
      }
    }

    /** The limit of this process is low. */
    private static List<FileInputStream> takeAllBut(int free) throws IOException {
      List<FileInputStream> held = new ArrayList<>();
      try {
        while (true) {
          held.add(new FileInputStream("/dev/null"));
        }
      } catch (IOException e) {
        for (int i = 0; i < free; i++) {
          held.remove(held.size() - 1).close();
        }
        return held;
      }
    }
  }
}
