// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.doctor;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.shuffle.directory.DirectoryName;
import org.sparkrdma.shuffle.directory.ExecutorFindings;
import org.sparkrdma.shuffle.directory.ExecutorFindings.FindingLine;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.runtime.RdmaRuntime;
import org.sparkrdma.shuffle.runtime.StartOutcome;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.doctor.Doctor;
import org.sparkrdma.shuffle.tools.doctor.Facts;
import org.sparkrdma.shuffle.tools.doctor.Finding;
import org.sparkrdma.shuffle.tools.doctor.Level;
import org.sparkrdma.shuffle.tools.engines.EngineProbe;
import org.sparkrdma.shuffle.tools.engines.Probe;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

/**
 * The checks of the command {@code doctor} in an executor: those of the machine as they are, that
 * of the device by the executor's own start. Confined to the thread of the {@link ExecutorDoctor},
 * but {@link #failed}.
 */
final class ExecutorCheck implements ExecutorDoctor.Checks {
  /** Leaves time for the checks themselves. */
  private static final Duration START_WAIT = Duration.ofSeconds(6);

  private static final long SAMPLE_MS = 1_000;

  /** Its advice is for the command: to run it where executors run. */
  private static final String ENVIRONMENT = "environment";

  private final SparkEnv env;
  private final ShuffleSettings settings;
  private final RdmaRuntime runtime;
  private volatile boolean used;

  /** Creates the check of an executor whose runtime has been started. */
  ExecutorCheck(SparkEnv env, ShuffleSettings settings, RdmaRuntime runtime) {
    this.env = env;
    this.settings = settings;
    this.runtime = runtime;
  }

  /** Takes about as long as the start of RDMA, and a second for counters. */
  @Override
  public ExecutorFindings run() throws InterruptedException, UnknownHostException {
    StartOutcome outcome = runtime.awaitStart(START_WAIT);
    used = outcome.up();
    SparkSettings spark = sparkSettings();
    SystemFiles files = new SystemFiles(Path.of("/"));
    Map<String, String> environment = System.getenv();
    Probe probe =
        new EngineProbe(settings, spark, InetAddress.getByName(host()))
            .runInExecutor(
                DeviceChoice.numberOf(env.executorId()),
                outcome.up(),
                outcome.reasons(),
                files,
                Facts.localDirectories(spark, environment));
    Doctor.Report report =
        Doctor.run(
            new Facts(
                files,
                environment,
                javaProperties(),
                spark,
                probe,
                Optional.empty(),
                List.of(),
                ExecutorCheck::sample));
    return new ExecutorFindings(env.executorId(), host(), outcome.up(), lines(report));
  }

  /** The report when the checks give none. Any thread. */
  @Override
  public ExecutorFindings failed(String reason) {
    return new ExecutorFindings(
        env.executorId(),
        host(),
        used,
        List.of(
            new FindingLine(
                "warning",
                "doctor",
                "The checks of this executor gave no result: " + reason + ".",
                "run the command doctor on that host")));
  }

  private String host() {
    return env.blockManager().blockManagerId().host();
  }

  private SparkSettings sparkSettings() {
    Map<String, String> values = new TreeMap<>();
    for (var entry : env.conf().getAll()) {
      values.put(entry._1(), entry._2());
    }
    // Set by the driver for its executors; the check of settings is for keys that users set.
    values.remove(DirectoryName.KEY);
    return new SparkSettings(values);
  }

  private static Map<String, String> javaProperties() {
    Map<String, String> properties = new TreeMap<>();
    for (String key : System.getProperties().stringPropertyNames()) {
      properties.put(key, System.getProperty(key));
    }
    return properties;
  }

  private static void sample() {
    try {
      TimeUnit.MILLISECONDS.sleep(SAMPLE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static List<FindingLine> lines(Doctor.Report report) {
    List<FindingLine> lines = new ArrayList<>();
    report
        .findings()
        .forEach(
            (check, findings) -> {
              for (Finding finding : findings) {
                if (finding.level() != Level.OK && !check.equals(ENVIRONMENT)) {
                  lines.add(
                      new FindingLine(
                          finding.level().name().toLowerCase(Locale.ROOT),
                          check,
                          finding.message(),
                          finding.advice()));
                }
              }
            });
    return lines;
  }
}
