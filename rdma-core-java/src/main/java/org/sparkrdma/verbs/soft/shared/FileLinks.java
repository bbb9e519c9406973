// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps registered files reachable for peers, also after they are unlinked: one hard link for each
 * file, in a private directory on its own file system, and a symbolic link to it in the shared
 * directory, by which peers open it, and by which the next process finds it when this one was
 * killed.
 *
 * <pre>
 *  shared directory/f7 ─symbolic─► ancestor of the file/.sparkrdma-soft-UID-BOOT/NAME/f7 ─hard─► file
 * </pre>
 *
 * <p>Safe for any thread. Owned by the device; closed after its regions.
 */
public final class FileLinks implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FileLinks.class);
  private static final String HIDDEN = ".sparkrdma-soft-";

  private final SharedDirectory shared;
  private final int userId;
  private final String hiddenName;
  private final Map<Object, LinkedFile> byFileKey = new HashMap<>();
  private final Map<Object, Path> directoryByStore = new HashMap<>();

  public FileLinks(SharedDirectory shared, HostIdentity host) {
    this.shared = shared;
    userId = host.userId();
    hiddenName = hiddenName(host);
  }

  /**
   * Links the file, or uses its existing link. The caller releases it.
   *
   * @throws IOException when it is no regular file that this process may read and write, ends
   *     before {@code endBytes}, or its file system has no room for a link
   */
  public synchronized LinkedFile acquire(Path file, long endBytes) throws IOException {
    var facts = Files.readAttributes(file, BasicFileAttributes.class);
    if (!facts.isRegularFile()) {
      throw new IOException("not a regular file: path=" + file);
    }
    if (facts.size() < endBytes) {
      throw new IOException(
          "the file ends before the range: path="
              + file
              + (" fileBytes=" + facts.size() + " rangeEnd=" + endBytes));
    }
    Object fileKey = facts.fileKey();
    LinkedFile linked = byFileKey.get(fileKey);
    if (linked == null) {
      linked = link(file, fileKey);
      byFileKey.put(fileKey, linked);
    }
    linked.regions++;
    return linked;
  }

  /** Releases a link; the last region removes it. */
  public synchronized void release(LinkedFile linked) {
    linked.regions--;
    if (linked.regions == 0) {
      byFileKey.remove(linked.fileKey);
      linked.close();
      remove(SharedDirectory.file(shared.path(), linked.fileId));
      remove(linked.hardLink);
    }
  }

  private static void remove(Path link) {
    try {
      Files.deleteIfExists(link);
    } catch (IOException e) {
      LOG.warn("Could not remove link: path={}", link, e);
    }
  }

  private LinkedFile link(Path file, Object fileKey) throws IOException {
    if (!Files.isReadable(file) || !Files.isWritable(file)) {
      throw new IOException("this process may not read and write the file: path=" + file);
    }
    long fileId = shared.newFileId();
    Path hardLink = hardLink(file, Files.getAttribute(file, "unix:dev"), "f" + fileId);
    try {
      Files.createSymbolicLink(SharedDirectory.file(shared.path(), fileId), hardLink);
    } catch (IOException e) {
      remove(hardLink);
      throw e;
    }
    return new LinkedFile(fileKey, fileId, hardLink);
  }

  private Path hardLink(Path file, Object store, String name) throws IOException {
    Path known = directoryByStore.get(store);
    if (known != null) {
      try {
        return Files.createLink(known.resolve(name), file);
      } catch (IOException e) {
        // Another mount of the same file system, where links are impossible: search again.
        LOG.debug("The file cannot be linked into this directory: path={}", known, e);
      }
    }
    IOException refused = null;
    for (Path ancestor : ancestors(file, store)) {
      try {
        Path directory = ensureDirectory(ancestor);
        Path link = Files.createLink(directory.resolve(name), file);
        directoryByStore.put(store, directory);
        return link;
      } catch (IOException e) {
        refused = e;
      }
    }
    throw refused != null
        ? refused
        : new IOException("no directory above the file may be written to: path=" + file);
  }

  /** Writable directories on the file system of the file, topmost first, without the root. */
  private static Iterable<Path> ancestors(Path file, Object store) throws IOException {
    Deque<Path> found = new ArrayDeque<>();
    Path real = file.toRealPath();
    for (Path at = real.getParent(); at != null && at.getParent() != null; at = at.getParent()) {
      if (!Files.getAttribute(at, "unix:dev").equals(store)) {
        break;
      }
      if (Files.isWritable(at)) {
        found.addFirst(at);
      }
    }
    return found;
  }

  /** Names user, boot and namespace: only their processes can be found to be dead. */
  private static String hiddenName(HostIdentity host) {
    long boot = host.bootId().getMostSignificantBits() ^ host.pidNamespace();
    return HIDDEN + host.userId() + "-" + Long.toHexString(boot);
  }

  private Path ensureDirectory(Path ancestor) throws IOException {
    Path user = ancestor.resolve(hiddenName);
    PrivateFiles.ensureDirectory(user, userId);
    removeLeftovers(user, userId);
    Path directory = user.resolve(shared.name());
    PrivateFiles.ensureDirectory(directory, userId);
    return directory;
  }

  /** Removes the directories of killed processes with their hard links, as far as possible. */
  private static void removeLeftovers(Path user, int userId) {
    try (DirectoryStream<Path> directories = Files.newDirectoryStream(user)) {
      for (Path directory : directories) {
        ProcessIdentity owner = SharedDirectory.ownerOf(directory.getFileName().toString());
        if (owner != null && !owner.isAlive()) {
          PrivateFiles.deleteLeftover(directory, userId);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      // Another process removes them too; what is left is tried again by the next one.
      LOG.debug("Directories of killed processes not removed: path={}", user, e);
    }
  }

  /**
   * Removes the hard links that the symbolic links in a shared directory name, and the directories
   * that are empty then. Removes only what a device of this user can have created.
   */
  static void removeTargets(Path sharedDirectory, HostIdentity host) throws IOException {
    String name = sharedDirectory.getFileName().toString();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(sharedDirectory)) {
      for (Path file : files) {
        if (Files.isSymbolicLink(file)) {
          removeTarget(Files.readSymbolicLink(file), name, host);
        }
      }
    }
  }

  private static void removeTarget(Path target, String name, HostIdentity host) {
    Path directory = target.getParent();
    Path user = directory == null ? null : directory.getParent();
    if (user == null
        || !directory.getFileName().toString().equals(name)
        || !user.getFileName().toString().equals(hiddenName(host))) {
      return;
    }
    try {
      PrivateFiles.checkDirectory(user, host.userId());
      PrivateFiles.checkDirectory(directory, host.userId());
      Files.deleteIfExists(target);
      removeIfEmpty(directory);
      removeIfEmpty(user);
    } catch (NoSuchFileException e) {
      LOG.trace("gone already: path={}", target, e);
    } catch (IOException e) {
      LOG.warn("Could not remove link: path={}", target, e);
    }
  }

  private static void removeIfEmpty(Path directory) throws IOException {
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    boolean empty;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      empty = !files.iterator().hasNext();
    }
    if (empty) {
      try {
        Files.deleteIfExists(directory);
      } catch (java.nio.file.DirectoryNotEmptyException e) {
        LOG.trace("in use again: path={}", directory, e);
      }
    }
  }

  @Override
  public synchronized void close() {
    for (Path directory : directoryByStore.values()) {
      try {
        removeIfEmpty(directory);
        removeIfEmpty(directory.getParent());
      } catch (IOException e) {
        LOG.warn("Could not remove directory: path={}", directory, e);
      }
    }
    directoryByStore.clear();
  }
}
