// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/**
 * Estimates what RDMA could save in applications that have already run, by their event logs.
 * Confined to one thread.
 */
public final class Estimate {
  private static final String DIRECTORY = "spark.eventLog.dir";

  private static final String RATE = "[0-9]{1,6}([.][0-9]{1,3})?[gGmM]";
  private static final double BYTES_OF_MBIT = 125e3;
  private static final long PROGRESS_NS = 5_000_000_000L;

  private final Properties settings;
  private final Configuration hadoop = new Configuration();
  private final Consumer<String> progress;
  private final LongSupplier clockNs;
  private long lastNs;
  private long readBytes;

  /**
   * @param settings Spark's, among others
   * @param progress takes a line every few seconds
   */
  public Estimate(Properties settings, Consumer<String> progress, LongSupplier clockNs) {
    this.settings = settings;
    this.progress = progress;
    this.clockNs = clockNs;
    for (String key : settings.stringPropertyNames()) {
      if (key.startsWith("spark.hadoop.")) {
        hadoop.set(key.replaceFirst("spark.hadoop.", ""), settings.getProperty(key));
      }
    }
  }

  /**
   * Reads logs.
   *
   * @param names of files, directories of rolling logs, or directories of logs; without any, {@code
   *     spark.eventLog.dir}
   * @param costFiles reports of transfers on the user's hosts; without any, the published one
   * @param link what the network of a host carries, as users write it; null if unknown
   * @throws IllegalArgumentException for an argument that is not allowed, with its name, its value
   *     and what is allowed
   */
  public Report run(List<String> names, List<java.nio.file.Path> costFiles, String link)
      throws IOException {
    CostTable costs = costFiles.isEmpty() ? CostTable.published() : CostTable.measured(costFiles);
    double linkBytesPerSecond = link == null ? Double.POSITIVE_INFINITY : bytesPerSecond(link);
    Map<String, EventLog> logs = new TreeMap<>();
    if (names.isEmpty()) {
      find(DIRECTORY, settings.getProperty(DIRECTORY, "file:///tmp/spark-events"), logs);
    }
    names.forEach(name -> find("LOG", name, logs));
    lastNs = clockNs.getAsLong();
    List<Estimation> estimations = new ArrayList<>();
    Map<String, String> notRead = new TreeMap<>();
    for (EventLog log : logs.values()) {
      Application application = new Application(costs, linkBytesPerSecond);
      String incomplete = log.incomplete();
      String cutOff = "";
      for (FileStatus file : log.files()) {
        if (!cutOff.isEmpty() && incomplete.isEmpty()) {
          incomplete = "because a file before its last one was not whole";
        }
        String failure = read(log, file, application);
        cutOff = failure.isEmpty() ? cutOff : failure;
      }
      if (application.events() > 0) {
        estimations.add(application.estimate(log, incomplete, cutOff));
      } else {
        notRead.put(log.path(), "no event of Spark is in it " + log.incomplete() + cutOff);
      }
    }
    estimations.sort(
        Comparator.comparing(Estimation::likely, Comparator.nullsLast(Comparator.reverseOrder()))
            .thenComparing(Estimation::seconds, Comparator.reverseOrder()));
    return new Report(1, costs.source(), link, estimations, notRead);
  }

  private static double bytesPerSecond(String link) {
    double number = link.matches(RATE) ? Double.parseDouble(link.replaceAll("[gGmM]", "")) : 0;
    if (number == 0) {
      throw wrong("--link", link, "bits per second of a host's network, such as 25g", null);
    }
    return number * BYTES_OF_MBIT * (link.matches(".*[gG]") ? 1_000 : 1);
  }

  /** The error of an argument that is not allowed. */
  static IllegalArgumentException wrong(String key, String value, String allowed, Exception cause) {
    String reason = cause == null ? "" : " reason=" + firstLine(cause);
    return new IllegalArgumentException(
        "Wrong value: key=" + key + " value=" + value + " allowed=" + allowed + reason, cause);
  }

  /** What has happened; a message of Hadoop also has the stack of its server. */
  static String firstLine(Exception e) {
    String message = Objects.toString(e.getMessage(), "").strip();
    return message.isEmpty() ? e.toString() : message.lines().findFirst().orElseThrow();
  }

  private void find(String key, String name, Map<String, EventLog> logs) {
    try {
      // As Spark does, a name without a scheme is one of this machine.
      File local = new File(name);
      boolean uri = !local.exists() && new Path(name).toUri().getScheme() != null;
      Path path = uri ? new Path(name) : new Path(local.getAbsoluteFile().toURI());
      List<EventLog> found = EventLog.find(path.getFileSystem(hadoop), path);
      if (found.isEmpty()) {
        throw new IOException("no log is in it");
      }
      found.forEach(log -> logs.put(log.path(), log));
    } catch (IOException | RuntimeException e) {
      // Hadoop throws a RuntimeException for a file system whose jar is missing.
      throw wrong(key, name, "an existing event log, or a directory of event logs", e);
    }
  }

  /** Reads a file of a log to its last whole line. Why it is not whole; "" if it may be. */
  private String read(EventLog log, FileStatus file, Application application) {
    try (InputStream raw = log.system().open(file.getPath());
        InputStream events = EventLog.decompressed(file, raw)) {
      return application.read(new EventLines(events, bytes -> progress(log.path(), bytes)));
    } catch (IOException | RuntimeException e) {
      // Of one log among many: it may have just been deleted, or belongs to somebody else.
      return firstLine(e);
    }
  }

  private void progress(String path, long bytes) {
    readBytes += Math.max(0, bytes);
    if (clockNs.getAsLong() - lastNs >= PROGRESS_NS) {
      lastNs = clockNs.getAsLong();
      progress.accept("Read " + Report.bytes(readBytes) + " of events, now in " + path);
    }
  }
}
