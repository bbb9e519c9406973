// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A small file system for the processes of one run: a tmpfs in a mount namespace, which needs no
 * root where users may make namespaces. Stateless.
 */
final class SmallDisk {
  private static final int MIB = 64;
  private static final int LIMIT_SECONDS = 30;

  /** Mounts the directory and runs a command. */
  private static final String SCRIPT =
      "mount -t tmpfs -o size=" + MIB + "m tmpfs \"$0\" && exec \"$@\"";

  private SmallDisk() {}

  /** Whether this user may make one. */
  static boolean isAllowed() throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("small-disk");
    try {
      Process process =
          new ProcessBuilder(command(directory, List.of("true")))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return false;
      }
      return process.exitValue() == 0;
    } catch (IOException e) {
      // No unshare(1).
      return false;
    } finally {
      Files.delete(directory);
    }
  }

  /** A command that runs another one, which finds the file system in the directory. */
  static List<String> command(Path directory, List<String> other) {
    List<String> command =
        new ArrayList<>(List.of("unshare", "-rm", "sh", "-c", SCRIPT, directory.toString()));
    command.addAll(other);
    return command;
  }
}
