// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.pinned.WritePins;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;

/**
 * Tests once for each directory of map outputs whether files of its file system can be registered:
 * some file systems cannot pin pages, see pin_user_pages in the kernel's Documentation/core-api.
 */
public final class FileProbe {
  private static final Logger LOG = LoggerFactory.getLogger(FileProbe.class);
  private static final int PROBE_BYTES = 4_096;

  private FileProbe() {}

  /** The directories whose files are never registered, tested once. */
  static List<Path> copiedDirectories(
      ServerParameters server, SystemFiles systemFiles, Set<AccessFlag> access) {
    ServeSettings settings = server.settings();
    Device device = server.device().device();
    List<Path> copied = new ArrayList<>();
    if (settings.registersFiles(device)) {
      List<Path> directories = new ArrayList<>(server.outputs().directories());
      if (settings.mayCopyInsteadOfPinning(device)) {
        WritePins pins = WritePins.of(systemFiles);
        for (Path directory : List.copyOf(directories)) {
          Optional<String> objection = pins.objection(directory);
          if (objection.isPresent()) {
            LOG.info("Map outputs in {} are served by copies: {}", directory, objection.get());
            directories.remove(directory);
            copied.add(directory);
          }
        }
      }
      copied.addAll(refusing(server.device().domain(), directories, access));
    }
    return copied;
  }

  /** The directories whose files cannot be registered. */
  static List<Path> refusing(
      ProtectionDomain domain, List<Path> directories, Set<AccessFlag> access) {
    List<Path> refusing = new ArrayList<>();
    for (Path directory : directories) {
      try {
        tryIn(domain, directory, access);
      } catch (VerbsException e) {
        if (mayPass(e)) {
          LOG.info(
              "Cannot test now whether files in {} can be registered, so each is tried when it is"
                  + " needed: {}",
              directory,
              e.getMessage());
        } else {
          LOG.warn(
              "Map outputs in {} are served by copies, because files of its file system cannot be registered:"
                  + " {}",
              directory,
              e.getMessage());
          refusing.add(directory);
        }
      } catch (IOException e) {
        // The result is unknown: each file is registered when it is needed, or served by copies.
        LOG.debug("Registration test failed: directory={}", directory, e);
      }
    }
    return List.copyOf(refusing);
  }

  /** Whether the device fails for a time, which says nothing about the file system. */
  private static boolean mayPass(VerbsException e) {
    return e.isTransient() || e.errno() == VerbsException.ENOMEM;
  }

  /**
   * Writes a file, registers and deletes it.
   *
   * @throws IOException when it cannot be written
   * @throws VerbsException when it cannot be registered
   */
  public static void tryIn(ProtectionDomain domain, Path directory, Set<AccessFlag> access)
      throws IOException, VerbsException {
    Path file = Files.createTempFile(directory, "rdma-probe", ".tmp");
    try {
      Files.write(file, new byte[PROBE_BYTES]);
      domain.registerFile(file, 0, PROBE_BYTES, access).close();
    } finally {
      Files.deleteIfExists(file);
    }
  }
}
