// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.driver;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.DriverDirectory;
import org.sparkrdma.shuffle.doctor.FindingsLog;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.spark.ExecutorHosts;
import org.sparkrdma.shuffle.ui.ApplicationMonitor;

/**
 * The parts of the plug-in that run on the driver: the directory, the table of the doctor's
 * findings, and the figures of the application with the tab in Spark's UI. Owned by the shuffle
 * manager, which closes it. Safe for any thread.
 */
public final class DriverParts implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriverParts.class);

  /**
   * Tasks send their executor's figures at their end, so the wait is milliseconds on a host that is
   * not overloaded.
   */
  private static final Duration LAST_REPORTS = Duration.ofSeconds(1);

  private final SparkConf conf;
  private final ShuffleSettings settings;
  private final List<String> warnings;
  private DriverDirectory directory;
  private boolean watching;
  private boolean closed;

  /**
   * @param warnings reasons from the settings why RDMA must not be used, for the tab
   */
  public DriverParts(SparkConf conf, ShuffleSettings settings, List<String> warnings) {
    this.conf = conf;
    this.settings = settings;
    this.warnings = List.copyOf(warnings);
  }

  /** Opens the directory once; needs Spark's environment. Not after {@link #close}. */
  public synchronized void begin() {
    if (directory == null && !closed && settings.mode() != ShuffleSettings.Mode.OFF) {
      directory =
          DriverDirectory.open(conf, SparkEnv.get().rpcEnv(), withoutRdma(settings)).orElse(null);
      if (directory != null) {
        directory.setProfiles(executorId -> ExecutorProfiles.of(conf, executorId));
      }
      if (directory != null && settings.doctor()) {
        directory.setFindingsConsumer(new FindingsLog()::report);
      }
    }
  }

  /** Part of the WARN about an executor without RDMA: the consequence, and the advice. */
  static String withoutRdma(ShuffleSettings settings) {
    if (settings.mode() == ShuffleSettings.Mode.REQUIRED) {
      return "Its tasks run in other executors with RDMA, and the job fails if there is none";
    }
    String engine = settings.engine();
    return engine.equals("auto")
        ? "Its shuffle blocks use TCP"
        : String.format(
            Locale.ROOT,
            "Its shuffle blocks use TCP. %s=%s was set and cannot be used there; with %s=required"
                + " tasks run only in executors with RDMA, and the job fails if there is none",
            ShuffleSetting.ENGINE.key(),
            engine,
            ShuffleSetting.MODE.key());
  }

  /** Attaches the parts that need the context to it; calls after the first do nothing. */
  public synchronized void watch(SparkContext context) {
    if (watching) {
      return;
    }
    watching = true;
    if (context.isLocal() && settings.mode() == ShuffleSettings.Mode.REQUIRED) {
      LOG.warn("RDMA is required, but in local mode no block is remote and RDMA is not used");
    }
    Optional<ApplicationMonitor> monitor =
        ApplicationMonitor.start(
            context,
            ExecutorHosts::ofDriver,
            notesForUi(context),
            directory == null ? Duration.ZERO : LAST_REPORTS);
    if (directory != null) {
      directory.watch(context);
      if (monitor.isPresent()) {
        directory.setFiguresConsumer(monitor.get()::report);
      } else {
        // So that executors send only what has changed.
        directory.setFiguresConsumer((executorId, values) -> {});
      }
    }
  }

  private List<String> notesForUi(SparkContext context) {
    List<String> notes = new ArrayList<>(warnings);
    if (settings.mode() == ShuffleSettings.Mode.OFF) {
      notes.add("RDMA is not used: " + ShuffleSetting.MODE.key() + "=off");
    } else if (context.isLocal()) {
      notes.add("RDMA is not used: in local mode no block is remote");
    }
    return notes;
  }

  /** Closes what is open; a second close does nothing. */
  @Override
  public void close() {
    DriverDirectory open;
    synchronized (this) {
      closed = true;
      open = directory;
      directory = null;
    }
    if (open != null) {
      open.close();
    }
  }
}
