// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Whether this process can write files in a directory, found by writing a small file and deleting
 * it: permissions alone do not show it for root, and on file systems such as proc.
 *
 * @param directory as it was given
 * @param tested the directory itself, or its nearest existing parent if it does not exist
 * @param outcome of the trial in {@code tested}
 * @param reason why no file can be written there; empty when one can
 */
public record WriteTrial(Path directory, Path tested, Outcome outcome, String reason) {
  private static final int PROBE_BYTES = 4_096;
  private static final String READ_ONLY = "Read-only file system";

  /** Result of a trial. */
  public enum Outcome {
    /** A file was written. */
    WRITABLE,
    /** The path is that of something else. */
    NOT_A_DIRECTORY,
    /** The file system is mounted read-only. */
    READ_ONLY,
    /** The user lacks the permission. */
    NO_PERMISSION,
    /** Another reason, such as a full file system. */
    OTHER
  }

  /** Writes a file in the directory, or in its nearest existing parent. Creates no directory. */
  public static WriteTrial in(Path directory) {
    Path tested = directory.toAbsolutePath().normalize();
    while (!Files.exists(tested, LinkOption.NOFOLLOW_LINKS) && tested.getParent() != null) {
      tested = tested.getParent();
    }
    if (!Files.isDirectory(tested)) {
      return new WriteTrial(directory, tested, Outcome.NOT_A_DIRECTORY, "not a directory");
    }
    try {
      Path file = Files.createTempFile(tested, "rdma-probe", ".tmp");
      try {
        Files.write(file, new byte[PROBE_BYTES]);
      } finally {
        Files.deleteIfExists(file);
      }
      return new WriteTrial(directory, tested, Outcome.WRITABLE, "");
    } catch (IOException e) {
      String reason =
          e instanceof NoSuchFileException ? "it takes no new files" : FileErrors.reason(e);
      return new WriteTrial(directory, tested, outcome(e), reason);
    }
  }

  /** Whether the directory itself exists, also as something else than a directory. */
  public boolean exists() {
    return tested.equals(directory.toAbsolutePath().normalize());
  }

  /** Whether a file was written. */
  public boolean isWritable() {
    return outcome == Outcome.WRITABLE;
  }

  static Outcome outcome(IOException e) {
    if (e instanceof AccessDeniedException) {
      return Outcome.NO_PERMISSION;
    }
    return e instanceof FileSystemException ofFile && READ_ONLY.equals(ofFile.getReason())
        ? Outcome.READ_ONLY
        : Outcome.OTHER;
  }
}
