// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.driver;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManagerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.broadcast.Broadcasts;
import org.sparkrdma.shuffle.directory.DirectoryName;
import org.sparkrdma.shuffle.directory.DriverDirectory;
import org.sparkrdma.shuffle.directory.ExecutorFindings;
import org.sparkrdma.shuffle.executorchecks.FindingsLog;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.pinned.SparkMemory;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.spark.ExecutorClassPath;
import org.sparkrdma.shuffle.ui.FigureReceiver;
import scala.collection.Iterator;

/**
 * The plug-in on the driver: checks the settings, and has the directory, the table of the doctor's
 * findings, and the figures of the application with the tab in Spark's UI. Owned by the {@code
 * RdmaShuffleManager}, or with another shuffle manager by the {@code RdmaPlugin}. Safe for any
 * thread.
 */
public final class DriverSide implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriverSide.class);

  private final SparkConf conf;
  private final ShuffleSettings settings;
  private final List<String> warnings;
  private final MissingLinks missing;
  private DriverDirectory directory;
  private Broadcasts broadcasts;
  private final FindingsLog findings = new FindingsLog();

  /** Null until a context is watched. */
  private volatile BiConsumer<String, Map<String, Object>> figures;

  private final ExecutorEnds ends = new ExecutorEnds(() -> hosts().keySet(), this::published);
  private boolean watching;
  private boolean closed;

  /**
   * Checks the settings, and adds to the configuration what executors need.
   *
   * @param entry the class that the user names
   * @param missing looks up what the driver uses of Spark
   * @throws IllegalArgumentException when a setting is wrong or executors cannot load the class
   * @throws IllegalStateException when RDMA is required and a method or field of Spark is missing,
   *     here and below
   */
  public DriverSide(SparkConf conf, Class<?> entry, MissingLinks missing) {
    this.missing = missing;
    this.conf = conf;
    this.settings = ShuffleSettings.of(conf);
    this.warnings = RdmaPolicy.warnings(RdmaPolicy.isTrueIn(conf), settings);
    settings.notes().forEach(LOG::warn);
    guarded(() -> prepare(entry));
  }

  private void prepare(Class<?> entry) {
    ExecutorClassPath.requireLoadable(conf, entry);
    ExecutorStarts.register(conf);
    // Here, because executors receive the configuration as it is when the first of them starts.
    DirectoryName.choose(conf);
    String memory = conf.get(SparkMemory.MEMORY, SparkMemory.DEFAULT_MEMORY);
    conf.set(SparkMemory.APPLICATION_MEMORY, memory);
    if (System.getProperty("sun.java.command", "").contains(SparkMemory.CONNECT)) {
      conf.set(SparkMemory.SERVES_PYTHON, "true");
    }
    // Executors that start from then on do not ask for it.
    missing.setEnd(reason -> conf.remove(DirectoryName.KEY));
    if (settings.mode() != ShuffleSettings.Mode.OFF) {
      missing.check();
      RdmaPolicy.requireUp(settings, missing.reason());
    }
  }

  private void guarded(Runnable work) {
    try {
      work.run();
    } catch (LinkageError e) {
      missing.takeOrThrow(e);
      RdmaPolicy.requireUp(settings, missing.reason());
    }
  }

  /** Whether this is the side of the application with that configuration. */
  public boolean isOf(SparkConf other) {
    return conf == other;
  }

  public MissingLinks missing() {
    return missing;
  }

  public ShuffleSettings settings() {
    return settings;
  }

  /** Opens the directory once; needs Spark's environment. Not after {@link #close}. */
  public void begin() {
    if (!missing.any()) {
      guarded(this::open);
    }
  }

  private synchronized void open() {
    if (directory == null && !closed && settings.mode() != ShuffleSettings.Mode.OFF) {
      directory =
          new DriverDirectory(
              conf,
              SparkEnv.get().rpcEnv(),
              settings.lookupTimeout(),
              withoutRdma(settings),
              this::takeReport,
              missing);
      broadcasts = Broadcasts.onDriver(SparkEnv.get(), settings, ends::watch);
      DriverDirectory opened = directory;
      Broadcasts variables = broadcasts;
      ends.add((executorId, reason) -> opened.remove(executorId));
      ends.add((executorId, reason) -> variables.removeExecutor(executorId));
      ends.addLook(variables::look);
    }
  }

  /** Takes no figures until a context is watched. Called on Spark's dispatcher; does not block. */
  private boolean takeReport(String executorId, Map<String, Object> values) {
    if (values.containsKey(Figure.FINDINGS)) {
      ExecutorFindings.of(values).ifPresent(found -> findings.report(executorId, found));
      return true;
    }
    BiConsumer<String, Map<String, Object>> consumer = figures;
    if (consumer != null) {
      consumer.accept(executorId, values);
    }
    return consumer != null;
  }

  /** Part of the WARN about an executor without RDMA: the consequence. */
  static String withoutRdma(ShuffleSettings settings) {
    return settings.mode() == ShuffleSettings.Mode.REQUIRED
        ? "Its tasks fail, because " + ShuffleSetting.MODE.key() + "=required"
        : "Its shuffle blocks use TCP";
  }

  /** Attaches what needs the context to it; calls after the first do nothing. */
  public void watch(Supplier<SparkContext> context) {
    guarded(() -> attachTo(context.get()));
  }

  private synchronized void attachTo(SparkContext context) {
    if (watching) {
      return;
    }
    watching = true;
    if (context.isLocal() && settings.mode() == ShuffleSettings.Mode.REQUIRED) {
      LOG.warn("RDMA is required, but in local mode no block is remote and RDMA is not used");
    }
    Optional<FigureReceiver> monitor =
        FigureReceiver.start(
            context,
            DriverSide::hosts,
            notesForUi(context),
            directory == null ? executorId -> false : directory::knows);
    if (directory != null) {
      // Without a monitor they are taken as well, so that executors send only what has changed.
      figures = (executorId, values) -> monitor.ifPresent(one -> one.report(executorId, values));
    }
    monitor.ifPresent(one -> ends.add(one::end));
    ends.watch(context);
  }

  /** Executors that have published, or take part in broadcasts. */
  private synchronized Set<String> published() {
    Set<String> published = new HashSet<>();
    if (directory != null) {
      published.addAll(directory.executors());
      published.addAll(broadcasts.executors());
    }
    return published;
  }

  private List<String> notesForUi(SparkContext context) {
    List<String> notes = new ArrayList<>(warnings);
    missing.reason().ifPresent(notes::add);
    if (settings.mode() == ShuffleSettings.Mode.OFF) {
      notes.add("RDMA is not used: " + ShuffleSetting.MODE.key() + "=off");
    } else if (context.isLocal()) {
      notes.add("RDMA is not used: in local mode no block is remote");
    }
    return notes;
  }

  /** The application ends; its executors may still report. */
  public void endWatch() {
    ends.close();
  }

  /** Closes what is open; a second close does nothing. */
  @Override
  public synchronized void close() {
    closed = true;
    endWatch();
    if (directory != null) {
      directory.close();
      broadcasts.close();
      directory = null;
    }
  }

  /**
   * Hosts of executors by id, as Spark names them; empty in local mode. From the block managers,
   * because Spark's list of executors has no hosts. An executor whose block manager is not
   * registered yet is missing.
   */
  private static Map<String, String> hosts() {
    Map<String, String> hosts = new LinkedHashMap<>();
    Iterator<BlockManagerId> all =
        SparkEnv.get().blockManager().master().getMemoryStatus().keysIterator();
    while (all.hasNext()) {
      BlockManagerId manager = all.next();
      // "fallback" is Spark's FallbackStorage.
      if (!manager.isDriver() && !manager.executorId().equals("fallback")) {
        hosts.put(manager.executorId(), manager.host());
      }
    }
    return hosts;
  }
}
