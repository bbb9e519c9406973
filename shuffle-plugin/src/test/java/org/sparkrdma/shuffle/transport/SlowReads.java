// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** A brake of the kernel on a block device. Confined to the thread of its disk. */
interface SlowReads {
  long COMMAND_SECONDS = 30;

  /** Makes the device to mount; that itself, or one on top of it. */
  String over(String device) throws IOException;

  /** Slows the device down from now on. */
  void begin() throws IOException;

  /** Undoes all; the device may still be mounted. */
  void end() throws IOException;

  /** Runs a command of the system and returns its output. */
  static String run(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    boolean ended;
    try {
      ended = process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted: " + command[0], e);
    }
    assertThat(ended && process.exitValue() == 0)
        .as("%s: %s", String.join(" ", command), output)
        .isTrue();
    return output;
  }
}
