// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.Map;

/**
 * Keeps registered files reachable for peers, also after they are unlinked: one hard link for each
 * file, beside it, and a symbolic link to that in the shared directory, by which peers open it, and
 * by which the next process finds it when this one was killed.
 *
 * <pre>
 *  shared directory/f7 ─symbolic─► directory of the file/.sparkrdma-soft-NAME-f7 ─hard─► file
 * </pre>
 *
 * <p>Safe for any thread. Owned by the device; used until its regions are closed.
 */
public final class FileLinks {
  private static final String PREFIX = ".sparkrdma-soft-";

  private final SharedDirectory shared;
  private final Map<Object, LinkedFile> byFileKey = new HashMap<>();

  public FileLinks(SharedDirectory shared) {
    this.shared = shared;
  }

  /** A registered file and its links, shared by its regions. */
  public static final class LinkedFile {
    private final Object fileKey;
    private final long fileId;
    private final Path hardLink;
    private int regions;

    private LinkedFile(Object fileKey, long fileId, Path hardLink) {
      this.fileKey = fileKey;
      this.fileId = fileId;
      this.hardLink = hardLink;
    }

    /** Id by which peers find it. */
    public long fileId() {
      return fileId;
    }

    public Path hardLink() {
      return hardLink;
    }
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
    LinkedFile linked = byFileKey.get(facts.fileKey());
    if (linked == null) {
      linked = link(file, facts.fileKey());
      byFileKey.put(facts.fileKey(), linked);
    }
    linked.regions++;
    return linked;
  }

  /** Releases a link; the last region removes it. */
  public synchronized void release(LinkedFile linked) {
    linked.regions--;
    if (linked.regions == 0) {
      byFileKey.remove(linked.fileKey);
      PrivateFiles.delete(SharedDirectory.file(shared.path(), linked.fileId));
      PrivateFiles.delete(linked.hardLink);
    }
  }

  private LinkedFile link(Path file, Object fileKey) throws IOException {
    if (!Files.isReadable(file) || !Files.isWritable(file)) {
      throw new IOException("this process may not read and write the file: path=" + file);
    }
    long fileId = shared.newFileId();
    Path real = file.toRealPath();
    Path hardLink = real.resolveSibling(PREFIX + shared.name() + "-f" + fileId);
    Path symbolicLink = SharedDirectory.file(shared.path(), fileId);
    // First, so that the next process finds the hard link when this one is killed.
    Files.createSymbolicLink(symbolicLink, hardLink);
    try {
      Files.createLink(hardLink, real);
    } catch (IOException e) {
      PrivateFiles.delete(symbolicLink);
      throw e;
    }
    return new LinkedFile(fileKey, fileId, hardLink);
  }

  /**
   * Removes the hard link that a symbolic link in a shared directory names, if the device of that
   * directory can have created it.
   */
  static void removeTarget(Path link) throws IOException {
    Path target = Files.readSymbolicLink(link);
    String prefix = PREFIX + link.getParent().getFileName() + "-f";
    if (target.getFileName().toString().startsWith(prefix)) {
      PrivateFiles.delete(target);
    }
  }
}
