// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Runs shell commands. Stateless. */
final class Shell {
  private Shell() {}

  /** Returns when they have ended; background commands continue. */
  static void run(String commands) {
    try {
      new ProcessBuilder("sh", "-c", commands)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
