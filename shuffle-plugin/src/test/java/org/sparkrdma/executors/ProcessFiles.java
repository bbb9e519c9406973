// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;

/**
 * A directory with one small file of each driver and executor of a run. Each process writes its own
 * file, again and again, from one thread at a time.
 */
public record ProcessFiles(Path directory) {
  /** Suffix of a file that its process has not finished. */
  public static final String UNFINISHED = ".unfinished";

  /** The directory that an environment variable of all processes of a run names. */
  public static ProcessFiles of(String variable) {
    return new ProcessFiles(Path.of(System.getenv(variable)));
  }

  /** Replaces the file of a process. */
  public void write(ProcessName process, String text) {
    String name = process.fileName();
    try {
      // Atomic, because the process may be killed while it writes.
      Path unfinished = Files.writeString(directory.resolve(name + UNFINISHED), text);
      Files.move(unfinished, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The texts of all processes. */
  public Map<ProcessName, String> read() throws IOException {
    Map<ProcessName, String> texts = new TreeMap<>(Comparator.comparing(ProcessName::fileName));
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        if (!name.endsWith(UNFINISHED)) {
          texts.put(ProcessName.parse(name), Files.readString(file));
        }
      }
    }
    return texts;
  }
}
