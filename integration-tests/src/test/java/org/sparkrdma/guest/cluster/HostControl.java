// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Sends requests for wires and kernels to the host through the shared directory. A request is a
 * file {@code ask-N}; the host answers with {@code done-N}. Safe for any thread.
 */
public final class HostControl {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long PAUSE_NS = 50_000_000;

  private final Path share;
  private int asked;

  public HostControl(Path share) {
    this.share = share;
  }

  /** Requests a command of {@code ./dev/guest ctl NAME} and returns when it is done. */
  public synchronized void ask(String line) throws IOException {
    asked++;
    put(share, "ask-" + asked, line);
    await(share.resolve("done-" + asked));
  }

  /** Writes a file that appears atomically. */
  public static void put(Path directory, String name, String text) throws IOException {
    Path unfinished = Files.writeString(directory.resolve(name + ".unfinished"), text);
    Files.move(unfinished, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }

  private static void await(Path file) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!Files.exists(file)) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("the host did not answer: file=" + file);
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
  }
}
