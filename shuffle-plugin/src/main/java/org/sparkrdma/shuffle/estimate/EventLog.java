// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.io.CompressionCodec$;

/**
 * The files of one log, in the order in which they were written: {@code
 * APP[_ATTEMPT][.codec][.inprogress]}, or {@code events_INDEX_…[.codec][.compact]} of a directory
 * {@code eventlog_v2_APP[_ATTEMPT]}. Immutable.
 *
 * @param path as users know it
 * @param name of the application with its attempt, as the file or directory has it
 * @param incomplete why events are missing; empty if none is known to be
 */
record EventLog(
    FileSystem system, String path, String name, List<FileStatus> files, String incomplete) {
  private static final String ROLLING = "eventlog_v2_";

  /** A file of events, but not a compacted one that is still written. */
  private static final String PART = "events_([0-9]{1,18})_.*(?<![.]inprogress)";

  private static final String SUFFIXES = "([.](lz4|lzf|snappy|zstd))?([.](inprogress|compact))*$";

  /** Logs of a file, of the directory of a rolling log, or of a directory of logs. */
  static List<EventLog> find(FileSystem system, Path path) throws IOException {
    FileStatus named = system.getFileStatus(path);
    FileStatus log = index(named) < 0 ? named : system.getFileStatus(path.getParent());
    FileStatus[] all = system.listStatus(log.getPath());
    if (log.isFile() || name(log).startsWith(ROLLING) || !sorted(all).isEmpty()) {
      return List.of(of(system, log));
    }
    return Stream.of(all)
        .filter(one -> one.isFile() ? !name(one).startsWith(".") : name(one).startsWith(ROLLING))
        .map(one -> of(system, one))
        .toList();
  }

  /** The log that is one file, or the directory of a rolling one. */
  private static EventLog of(FileSystem system, FileStatus log) {
    String path = log.getPath().toString();
    String app = name(log).replaceFirst("^" + ROLLING, "").replaceFirst(SUFFIXES, "");
    List<FileStatus> parts = new ArrayList<>();
    String incomplete = "";
    long expected = 1;
    try {
      List<FileStatus> all = log.isFile() ? List.of(log) : sorted(system.listStatus(log.getPath()));
      for (FileStatus one : all) {
        if (isCompact(one)) {
          parts.clear();
          incomplete = "because it is compacted: tasks of ended jobs are gone";
        } else if (log.isDirectory() && index(one) != expected && incomplete.isEmpty()) {
          incomplete = "because its file of events " + expected + " is missing";
        }
        parts.add(one);
        expected = index(one) + 1;
      }
      return new EventLog(system, path, app, parts, incomplete);
    } catch (IOException e) {
      // It may belong to somebody else.
      return new EventLog(system, path, app, List.of(), Estimate.firstLine(e));
    }
  }

  /** Files of events; a compacted one has the index of the last one that it replaces. */
  private static List<FileStatus> sorted(FileStatus[] all) {
    return Stream.of(all)
        .filter(one -> index(one) >= 0)
        .sorted(Comparator.comparingLong(EventLog::index).thenComparing(EventLog::isCompact))
        .toList();
  }

  private static String name(FileStatus one) {
    return one.getPath().getName();
  }

  private static boolean isCompact(FileStatus part) {
    return name(part).endsWith(".compact");
  }

  /** The number of a file of a rolling log; -1 of another file. */
  private static long index(FileStatus part) {
    boolean named = part.isFile() && name(part).matches(PART);
    return named ? Long.parseLong(name(part).replaceFirst(PART, "$1")) : -1;
  }

  /**
   * A stream of the events of one file, to be closed: that of zstd holds memory outside the heap.
   *
   * @param raw the bytes of the file
   */
  static InputStream decompressed(FileStatus file, InputStream raw) {
    String codec = name(file).replaceFirst(".*?" + SUFFIXES, "$2");
    if (codec.isEmpty()) {
      return raw;
    }
    SparkConf conf = new SparkConf(false);
    return CompressionCodec$.MODULE$.createCodec(conf, codec).compressedInputStream(raw);
  }
}
