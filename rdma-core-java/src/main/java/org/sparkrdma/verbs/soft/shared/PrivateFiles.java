// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files and directories that only this user can access: modes 0600 and 0700, checked before use.
 */
public final class PrivateFiles {
  private static final Logger LOG = LoggerFactory.getLogger(PrivateFiles.class);
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> DIRECTORY =
      PosixFilePermissions.fromString("rwx------");
  private static final int ZEROS_BYTES = 1 << 16;

  private PrivateFiles() {}

  /** Creates a file with mode 0600, open for reading and writing. */
  public static FileChannel create(Path file) throws IOException {
    return FileChannel.open(
        file,
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
        PosixFilePermissions.asFileAttribute(FILE));
  }

  /** Opens a file for reading and writing. */
  public static FileChannel open(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /** Writes zeros, so that a full file system causes an exception now and no signal later. */
  public static void fillWithZeros(FileChannel channel, long lengthBytes) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(ZEROS_BYTES, lengthBytes));
    for (long written = 0; written < lengthBytes; ) {
      zeros.clear().limit((int) Math.min(zeros.capacity(), lengthBytes - written));
      written += channel.write(zeros, written);
    }
  }

  /** Creates a directory with mode 0700, or checks that an existing one is private to this user. */
  static void ensureDirectory(Path directory, int userId) throws IOException {
    try {
      Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(DIRECTORY));
    } catch (FileAlreadyExistsException e) {
      check(directory, userId, true);
    }
  }

  /**
   * Checks that a path is a directory or else a regular file, of this user, and private.
   *
   * @throws IOException saying what is wrong
   */
  static void check(Path path, int userId, boolean isDirectory) throws IOException {
    Set<PosixFilePermission> mode = isDirectory ? DIRECTORY : FILE;
    Map<String, Object> facts =
        Files.readAttributes(
            path, "unix:uid,permissions,isRegularFile,isDirectory", LinkOption.NOFOLLOW_LINKS);
    if (!facts.get("uid").equals(userId)
        || !facts.get("permissions").equals(mode)
        || !facts.get(isDirectory ? "isDirectory" : "isRegularFile").equals(true)) {
      @SuppressWarnings("unchecked")
      var permissions = (Set<PosixFilePermission>) facts.get("permissions");
      throw new IOException(
          "not private to this user: path="
              + path
              + (" userId=" + facts.get("uid") + " expected=" + userId)
              + (" mode=" + PosixFilePermissions.toString(permissions))
              + (" expected=" + PosixFilePermissions.toString(mode)));
    }
  }

  /**
   * Deletes a file that may be missing; its directory is removed at the latest with the process.
   */
  public static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      LOG.warn("Could not delete file: path={}", file, e);
    }
  }
}
