// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.nio.file.Path;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;

/**
 * A range of a file mapped for registration: no code of this process reads or writes it. Its
 * creator closes it once.
 */
final class FileMapping implements AutoCloseable {
  private static final long FAILED = -1;

  private final long start;
  private final long mappedBytes;
  private final long address;

  private FileMapping(long start, long mappedBytes, long address) {
    this.start = start;
    this.mappedBytes = mappedBytes;
    this.address = address;
  }

  /**
   * Maps the range.
   *
   * @throws VerbsException when the file cannot be opened or mapped, or ends before the range
   */
  static FileMapping of(Path file, long offset, long lengthBytes, boolean writable)
      throws VerbsException {
    String details = "file=" + file + " offset=" + offset + " lengthBytes=" + lengthBytes;
    int fd = Libc.openFile(file, writable);
    if (fd < 0) {
      throw Libraries.failure("open", -fd, details);
    }
    try {
      long fileBytes = Libc.fileBytes(fd);
      if (fileBytes < 0) {
        throw Libraries.failure("lseek", details);
      }
      if (offset + lengthBytes > fileBytes) {
        throw new VerbsException(
            "ibv_reg_mr",
            "ibv_reg_mr failed: the file ends before the range: "
                + (details + " fileBytes=" + fileBytes));
      }
      // A mapping begins on a page.
      long before = offset % Libc.pageBytes();
      long mappedBytes = before + lengthBytes;
      long start = Libc.mapFile(fd, offset - before, mappedBytes, writable);
      if (start == FAILED) {
        throw Libraries.failure("mmap", details);
      }
      return new FileMapping(start, mappedBytes, start + before);
    } finally {
      Libc.close(fd);
    }
  }

  /** Address of the range. */
  long address() {
    return address;
  }

  @Override
  public void close() {
    Libc.unmap(start, mappedBytes);
  }
}
