// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kernels before 6.2 pin pages for writing even when peers may only read them, so the pages of a
 * registered file are written again. On NFS that is a second transfer of the file to its server.
 * Where server and client are one host it can also stop both for minutes: the write waits until the
 * client returns its delegation of the file, and the return waits for a thread of the server.
 */
final class WritePins {
  private static final Logger LOG = LoggerFactory.getLogger(WritePins.class);
  private static final Pattern VERSION = Pattern.compile("([0-9]{1,4})\\.([0-9]{1,4}).*");
  private static final int FIRST_MAJOR = 6;
  private static final int FIRST_MINOR = 2;
  private static final Set<String> NFS = Set.of("nfs", "nfs4");

  private WritePins() {}

  /** Whether this kernel pins for writing; false when its version is not a number. */
  static boolean byKernel(String release) {
    Matcher version = VERSION.matcher(release);
    if (!version.matches()) {
      return false;
    }
    int major = Integer.parseInt(version.group(1));
    return major < FIRST_MAJOR
        || (major == FIRST_MAJOR && Integer.parseInt(version.group(2)) < FIRST_MINOR);
  }

  /** Whether files must not be registered. */
  static boolean avoid(String release, String fileSystem) {
    return byKernel(release) && NFS.contains(fileSystem);
  }

  /** The directories whose files must be served by copies on this machine. */
  static List<Path> avoiding(List<Path> directories) {
    String release = System.getProperty("os.version");
    List<Path> avoiding = new ArrayList<>();
    for (Path directory : directories) {
      String fileSystem = fileSystem(directory);
      if (avoid(release, fileSystem)) {
        LOG.warn(
            "Map outputs in {} are served by copies: Linux {} would write registered files of {} again",
            directory,
            release,
            fileSystem);
        avoiding.add(directory);
      }
    }
    return List.copyOf(avoiding);
  }

  private static String fileSystem(Path directory) {
    try {
      return Files.getFileStore(directory).type();
    } catch (IOException e) {
      LOG.debug("File system unknown: directory={}", directory, e);
      return "";
    }
  }
}
