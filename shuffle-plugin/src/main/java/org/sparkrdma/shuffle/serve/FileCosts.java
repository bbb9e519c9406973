// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;

/**
 * Measures one registration or one copy of a range of a file, as the server makes them. For the
 * test at the start of a server, {@code ./bench serve} and {@code ./card}. Confined to the thread
 * that measures.
 */
public final class FileCosts {
  private final ProtectionDomain domain;
  private final Set<AccessFlag> access;
  private final LongSupplier nanoClock;

  /**
   * @param access of windows
   * @param nanoClock of real time, as {@link System#nanoTime}
   */
  public FileCosts(ProtectionDomain domain, Set<AccessFlag> access, LongSupplier nanoClock) {
    this.domain = domain;
    this.access = access;
    this.nanoClock = nanoClock;
  }

  /** Nanoseconds to map and register a range of the file, and to deregister and unmap it. */
  public long registerNs(Path file, long offset, long lengthBytes) throws VerbsException {
    long startNs = nanoClock.getAsLong();
    domain.registerFile(file, offset, lengthBytes, access).close();
    return nanoClock.getAsLong() - startNs;
  }

  /**
   * Nanoseconds to open the file and to read a range of it by positioned reads.
   *
   * @param target is filled to its limit
   */
  public long copyNs(Path file, long offset, ByteBuffer target) throws IOException {
    long startNs = nanoClock.getAsLong();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      int first = target.position();
      while (target.hasRemaining()) {
        if (channel.read(target, offset + target.position() - first) < 0) {
          throw new EOFException("file too short: file=" + file + " offset=" + offset);
        }
      }
    }
    return nanoClock.getAsLong() - startNs;
  }
}
