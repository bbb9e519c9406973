// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.pinned.WritePins;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;

/**
 * Tests once for each directory of map outputs whether files of its file system can be registered:
 * some file systems cannot pin pages, see pin_user_pages in the kernel's Documentation/core-api.
 * Also measures what a registration costs there.
 */
public final class FileProbe {
  private static final Logger LOG = LoggerFactory.getLogger(FileProbe.class);
  private static final int PROBE_BYTES = 4_096;
  private static final int MEASURED_BYTES = 1 << 20;
  private static final int TRIES = 8;
  private static final int MIN_TRIES = 3;

  /** A measurement does not begin another try after this time. */
  private static final long MEASURED_NS = 20_000_000;

  private FileProbe() {}

  /** The directories whose files are never registered, tested once. */
  static List<Path> copiedDirectories(
      ServerParameters server, SystemFiles systemFiles, Set<AccessFlag> access) {
    ServeSettings settings = server.settings();
    DeviceFitness fitness = server.fitness();
    List<Path> copied = new ArrayList<>();
    Map<Path, String> permissions = new LinkedHashMap<>();
    if (fitness.registersFiles(settings)) {
      List<Path> directories = new ArrayList<>(server.outputs().directories());
      if (fitness.mayCopyInsteadOfPinning(settings)) {
        WritePins pins = WritePins.of(systemFiles, server.device().domain());
        for (Path directory : List.copyOf(directories)) {
          Optional<String> objection = pins.objection(directory);
          if (objection.isPresent()) {
            LOG.info("Map outputs in {} are served by copies: {}", directory, objection.get());
            directories.remove(directory);
            copied.add(directory);
          }
          pins.permission(directory).ifPresent(why -> permissions.put(directory, why));
        }
      }
      copied.addAll(refusing(server.device().domain(), directories, access));
      permissions.keySet().removeAll(copied);
      permissions.forEach(
          (directory, why) -> LOG.info("Files in {} may be registered: {}", directory, why));
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

  /**
   * Whether the device fails for a time, which says nothing about the file system. Of one without
   * shared mappings mmap(2) has the error number of a device that is reset.
   */
  private static boolean mayPass(VerbsException e) {
    return e.isNoRoom() || (e.isTransient() && !e.call().equals("mmap"));
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

  /**
   * Measures what it costs in a directory to register a file, and to copy its bytes instead: the
   * best of a few tries. On a thread of its disk.
   *
   * @return null when nothing can be registered there now
   */
  static WindowPrice measure(OpenDevice device, Path directory, Set<AccessFlag> access) {
    Optional<PinnedBudget.Grant> grant = device.budget().tryGrant(MEASURED_BYTES);
    if (grant.isEmpty()) {
      return null;
    }
    try {
      return price(device.domain(), device.nanoClock(), directory, access).orElse(null);
    } finally {
      grant.get().close();
    }
  }

  /**
   * As {@link #measure}, outside the account of pinned memory.
   *
   * @param clock nanoseconds
   * @return empty when nothing can be registered there now
   */
  public static Optional<WindowPrice> price(
      ProtectionDomain domain, LongSupplier clock, Path directory, Set<AccessFlag> access) {
    try {
      Path file = Files.createTempFile(directory, "rdma-probe", ".tmp");
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        channel.write(ByteBuffer.allocateDirect(MEASURED_BYTES));
        return Optional.of(measureFile(domain, clock, file, access));
      } finally {
        Files.deleteIfExists(file);
      }
    } catch (IOException | VerbsException | RuntimeException e) {
      LOG.debug("Costs of a registration cannot be measured: directory={}", directory, e);
      return Optional.empty();
    }
  }

  private static WindowPrice measureFile(
      ProtectionDomain domain, LongSupplier clock, Path file, Set<AccessFlag> access)
      throws IOException, VerbsException {
    ByteBuffer target = ByteBuffer.allocateDirect(MEASURED_BYTES);
    int[] lengths = {WindowPrice.PAGE_BYTES, MEASURED_BYTES};
    long[][] best = new long[lengths.length][3];
    for (long[] one : best) {
      Arrays.fill(one, Long.MAX_VALUE);
    }
    long endNs = clock.getAsLong() + MEASURED_NS;
    for (int i = 0; i < TRIES && (i < MIN_TRIES || clock.getAsLong() - endNs < 0); i++) {
      for (int length = 0; length < lengths.length; length++) {
        long beganNs = clock.getAsLong();
        MemoryRegion region = domain.registerFile(file, 0, lengths[length], access);
        long registeredNs = clock.getAsLong();
        region.close();
        long closedNs = clock.getAsLong();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
          channel.read(target.clear().limit(lengths[length]), 0);
        }
        best[length][0] = Math.min(best[length][0], registeredNs - beganNs);
        best[length][1] = Math.min(best[length][1], closedNs - registeredNs);
        best[length][2] = Math.min(best[length][2], clock.getAsLong() - closedNs);
      }
    }
    return WindowPrice.of(lengths[0], best[0], lengths[1], best[1]);
  }
}
