// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The JDK's command {@code jcmd}, which asks another JVM for its account of native memory.
 *
 * @param javaHome of the JDK
 * @param limit time limit of one call
 */
record Jcmd(Path javaHome, Duration limit) implements MemorySnapshots.JvmAccount {

  @Override
  public Map<String, Double> committedMib(long pid) throws IOException, InterruptedException {
    Path output = Files.createTempFile("soak-jcmd", ".txt");
    try {
      int exitCode = run(pid, output);
      String text = Files.readString(output);
      if (exitCode != 0) {
        throw new IOException(NativeMemorySummary.reason(text));
      }
      return NativeMemorySummary.committedMib(text);
    } finally {
      Files.delete(output);
    }
  }

  private int run(long pid, Path output) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                javaHome.resolve("bin/jcmd").toString(),
                Long.toString(pid),
                "VM.native_memory",
                "summary",
                "scale=KB")
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IOException("jcmd did not end within %.1f s".formatted(limit.toMillis() / 1e3));
      }
      return process.exitValue();
    } finally {
      process.destroyForcibly();
    }
  }
}
