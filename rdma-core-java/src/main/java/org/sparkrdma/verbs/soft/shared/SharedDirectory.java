// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory that one open device shares with its peers: its table, the files of its memory, and
 * symbolic links to the files it has registered.
 *
 * <pre>
 *  base/sparkrdma-soft-UID/            0700, of this user
 *    PID-STARTTICKS-RANDOM/            0700, one for each open device
 *      lock                            0600, locked by its owner
 *      table                           0600, see {@link SharedTable}
 *      f0, f1, …                       0600 memory, or symbolic links made by {@link FileLinks}
 *      q0, q1, …                       0600, see {@link SharedReceives}
 * </pre>
 *
 * <p>The device creates it when it is opened, after removing the directories of killed processes.
 * It is removed at close, or by a shutdown hook when the process ends without a close. Safe for any
 * thread.
 *
 * <p>The owner holds a lock of the kernel on a file in it, as long as it lives: a process number in
 * the name means nothing in another PID namespace, such as that of a container with the same
 * /dev/shm. Such a lock, see fcntl(2), ends with the first descriptor of the file that its process
 * closes, so no process opens that file of its own directories again.
 */
public final class SharedDirectory implements AutoCloseable {
  public static final String TABLE = "table";
  private static final String LOCK = "lock";
  private static final String HIDDEN = "new-";

  /** A process that creates its directory needs less. */
  private static final long HIDDEN_MS = 600_000;

  public static final int MAX_NAME_BYTES = 64;

  private static final Logger LOG = LoggerFactory.getLogger(SharedDirectory.class);
  private static final Pattern NAME = Pattern.compile("([0-9]{1,10})-(-?[0-9]{1,11})-[0-9a-f]{16}");

  private final Path directory;
  private final Path user;
  private final HostIdentity host;
  private final Thread hook = new Thread(this::remove, "soft-rdma-cleaner");
  private final AtomicLong nextFileId = new AtomicLong();
  private final FileChannel lock;

  private SharedDirectory(Path user, String name, HostIdentity host) throws IOException {
    this.user = user;
    this.host = host;
    directory = user.resolve(name);
    // Others find it, by its name, only with the lock held.
    Path hidden = user.resolve(HIDDEN + name);
    PrivateFiles.ensureDirectory(hidden, host.userId());
    lock = PrivateFiles.create(hidden.resolve(LOCK));
    try {
      lock.lock();
      Files.move(hidden, directory);
    } catch (IOException e) {
      lock.close();
      removeDirectory(hidden);
      throw e;
    }
  }

  /** Removes directories of killed processes and creates one for this process. */
  public static SharedDirectory create(Path base, HostIdentity host, ProcessIdentity self)
      throws IOException {
    Path user = base.resolve("sparkrdma-soft-" + host.userId());
    PrivateFiles.ensureDirectory(user, host.userId());
    removeLeftovers(user, self);
    var shared = new SharedDirectory(user, newName(self), host);
    Runtime.getRuntime().addShutdownHook(shared.hook);
    return shared;
  }

  /** A name with the owner's process, and random so that it cannot be guessed. */
  static String newName(ProcessIdentity process) {
    byte[] random = new byte[8];
    new SecureRandom().nextBytes(random);
    return process.pid() + "-" + process.startTicks() + "-" + HexFormat.of().formatHex(random);
  }

  /** The owner of the directory with this name; null when it is no such name. */
  public static ProcessIdentity ownerOf(String name) {
    Matcher matcher = NAME.matcher(name);
    return matcher.matches()
        ? new ProcessIdentity(
            (int) Long.parseLong(matcher.group(1)), (int) Long.parseLong(matcher.group(2)))
        : null;
  }

  /**
   * A peer's directory, after a check that it and its table are private to this user.
   *
   * @throws IOException saying what is wrong
   */
  public Path peer(String name) throws IOException {
    if (ownerOf(name) == null) {
      throw new IOException("not the name of a shared directory");
    }
    Path peer = user.resolve(name);
    if (!Files.isDirectory(peer)) {
      throw new IOException(
          "the peer has no directory here: both ends need the same soft.directory: path=" + peer);
    }
    PrivateFiles.check(peer, host.userId(), true);
    PrivateFiles.check(peer.resolve(TABLE), host.userId(), false);
    return peer;
  }

  public Path path() {
    return directory;
  }

  public String name() {
    return directory.getFileName().toString();
  }

  /** A file number that was never used in this directory. */
  public long newFileId() {
    return nextFileId.getAndIncrement();
  }

  /** The file that peers open for a file id. */
  public static Path file(Path directory, long fileId) {
    return directory.resolve("f" + fileId);
  }

  /** The file of the receives of a queue pair. */
  public static Path receives(Path directory, int queuePairNumber) {
    return directory.resolve("q" + queuePairNumber);
  }

  @Override
  public void close() {
    remove();
    try {
      lock.close();
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IOException | IllegalStateException e) {
      LOG.trace("closed while the process ends", e);
    }
  }

  private void remove() {
    try {
      removeDirectory(directory);
    } catch (IOException | DirectoryIteratorException e) {
      LOG.warn("Could not remove shared directory: path={}", directory, e);
    }
  }

  /** Best effort: processes that start together do the same. */
  private static void removeLeftovers(Path user, ProcessIdentity self) {
    try (DirectoryStream<Path> directories = Files.newDirectoryStream(user)) {
      for (Path directory : directories) {
        String name = directory.getFileName().toString();
        boolean hidden = name.startsWith(HIDDEN);
        ProcessIdentity owner = ownerOf(hidden ? name.substring(HIDDEN.length()) : name);
        long ageMs = System.currentTimeMillis() - directory.toFile().lastModified();
        if (owner != null && !owner.equals(self) && (!hidden || ageMs > HIDDEN_MS)) {
          removeLeftover(directory);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      LOG.debug("Shared directories of killed processes not removed: path={}", user, e);
    }
  }

  private static void removeLeftover(Path directory) {
    Path file = directory.resolve(LOCK);
    boolean locks = Files.exists(file);
    try (FileChannel channel = locks ? FileChannel.open(file, StandardOpenOption.WRITE) : null) {
      // The lock is created first and removed last.
      if (!locks || channel.tryLock() != null) {
        LOG.info("Removing the shared directory of a process that was killed: path={}", directory);
        removeDirectory(directory);
      }
    } catch (IOException | DirectoryIteratorException | OverlappingFileLockException e) {
      LOG.debug("Shared directory of a killed process not removed: path={}", directory, e);
    }
  }

  /**
   * Removes a directory with its files, the lock last, and the hard links that its symbolic links
   * name.
   */
  private static void removeDirectory(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        if (Files.isSymbolicLink(file)) {
          FileLinks.removeTarget(file);
        }
        if (!file.endsWith(LOCK)) {
          Files.deleteIfExists(file);
        }
      }
    }
    Files.deleteIfExists(directory.resolve(LOCK));
    Files.deleteIfExists(directory);
  }
}
