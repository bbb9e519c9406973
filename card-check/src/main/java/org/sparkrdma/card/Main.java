// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Main class of the archive: runs the command and ends the JVM with its exit code. */
public final class Main {
  private Main() {}

  /** Runs {@link CardCommand} on this host. */
  public static void main(String[] arguments) {
    var out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    var errors = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    var command =
        new CardCommand(IbverbsDevices::list, HostFiles.under(Path.of("/")), new JavaPrograms());
    System.exit(CardCommand.run(command, out, errors, arguments));
  }
}
