// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Path;

/** Packets that a guest has written to a file. */
final class Capture {
  private Capture() {}

  /** Number of packets of a file that pass a filter, see pcap-filter(7). */
  static long packets(Path capture, String filter) throws Exception {
    Process tcpdump =
        new ProcessBuilder("tcpdump", "-n", "-r", capture.toString(), filter)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (BufferedReader lines = tcpdump.inputReader()) {
      long count = lines.lines().count();
      assertThat(tcpdump.waitFor()).isZero();
      return count;
    }
  }
}
