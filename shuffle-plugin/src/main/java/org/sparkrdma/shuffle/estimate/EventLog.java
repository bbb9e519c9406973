// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.io.LZ4CompressionCodec;
import org.apache.spark.io.LZFCompressionCodec;
import org.apache.spark.io.SnappyCompressionCodec;
import org.apache.spark.io.ZStdCompressionCodec;

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
  private static final String COMPACTED = "because it is compacted: tasks of ended jobs are gone";
  private static final Pattern PART = Pattern.compile("events_([0-9]{1,18})_.*");
  private static final String SUFFIXES =
      "([.](lz4|lzf|snappy|zstd))?([.]inprogress)?([.]compact)?$";

  /** Logs of a file, of the directory of a rolling log, or of a directory of logs. */
  static List<EventLog> find(FileSystem system, Path path) throws IOException {
    FileStatus status = system.getFileStatus(path);
    if (index(status) >= 0) {
      return List.of(rolling(system, system.getFileStatus(path.getParent())));
    }
    if (status.isFile()) {
      return List.of(single(system, status));
    }
    FileStatus[] all = system.listStatus(path);
    if (name(status).startsWith(ROLLING) || !sorted(all).isEmpty()) {
      return List.of(rolling(system, status));
    }
    List<EventLog> logs = new ArrayList<>();
    for (FileStatus one : all) {
      if (one.isDirectory() && name(one).startsWith(ROLLING)) {
        logs.add(rolling(system, one));
      } else if (one.isFile() && !name(one).startsWith(".")) {
        logs.add(single(system, one));
      }
    }
    return logs;
  }

  private static EventLog single(FileSystem system, FileStatus file) {
    String app = name(file).replaceFirst(SUFFIXES, "");
    String incomplete = isCompact(file) ? COMPACTED : "";
    return new EventLog(system, file.getPath().toString(), app, List.of(file), incomplete);
  }

  private static EventLog rolling(FileSystem system, FileStatus directory) {
    String path = directory.getPath().toString();
    String app = name(directory).replaceFirst("^" + ROLLING, "");
    List<FileStatus> parts = new ArrayList<>();
    String incomplete = "";
    long expected = 1;
    try {
      for (FileStatus one : sorted(system.listStatus(directory.getPath()))) {
        if (isCompact(one)) {
          parts.clear();
          incomplete = COMPACTED;
        } else if (index(one) != expected && incomplete.isEmpty()) {
          incomplete = "because its file of events " + expected + " is missing";
        }
        parts.add(one);
        expected = index(one) + 1;
      }
      return new EventLog(system, path, app, parts, incomplete);
    } catch (IOException e) {
      // It may belong to somebody else.
      return new EventLog(system, path, app, List.of(), e.getMessage());
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
    Matcher name = PART.matcher(name(part));
    return part.isFile() && name.matches() ? Long.parseLong(name.group(1)) : -1;
  }

  /**
   * A stream of the events of one file, to be closed: that of zstd holds memory outside the heap.
   *
   * @param raw the bytes of the file
   */
  static InputStream decompressed(FileStatus file, InputStream raw, SparkConf conf) {
    return switch (name(file).replaceFirst(".*?" + SUFFIXES, "$2")) {
      case "lz4" -> new LZ4CompressionCodec(conf).compressedInputStream(raw);
      case "lzf" -> new LZFCompressionCodec(conf).compressedInputStream(raw);
      case "snappy" -> new SnappyCompressionCodec(conf).compressedInputStream(raw);
      case "zstd" -> new ZStdCompressionCodec(conf).compressedInputStream(raw);
      default -> raw;
    };
  }
}
