// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import org.sparkrdma.shuffle.serve.FileCosts;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;

/**
 * Measures on a device what registering a range of a file costs, against copying it into registered
 * memory. Cold pages have never been touched: they are those of a file that was just extended, so
 * no disk is read. A registration makes the kernel clear each; a copy does on most disk file
 * systems, and not in a file system in memory. Warm pages are in the page cache. Confined to its
 * creator, who closes it.
 */
final class CostMeter implements AutoCloseable {
  private static final Set<AccessFlag> REMOTE_READ = Set.of(AccessFlag.REMOTE_READ);
  private static final long SEED = 20_261_125;
  private static final double NS_PER_US = 1e3;
  private static final double TENTHS = 10;

  private final ProtectionDomain domain;
  private final HostMemory memory;
  private final MemoryRegion buffer;
  private final FileCosts costs;
  private final int lengthBytes;
  private final Path file;

  private CostMeter(
      ProtectionDomain domain, HostMemory memory, MemoryRegion buffer, int lengthBytes, Path file) {
    this.domain = domain;
    this.memory = memory;
    this.buffer = buffer;
    this.costs = new FileCosts(domain, REMOTE_READ, System::nanoTime);
    this.lengthBytes = lengthBytes;
    this.file = file;
  }

  /**
   * Prepares the memory for copies, and a file.
   *
   * @param folder where the file is created; {@link #close} deletes it
   */
  static CostMeter on(Device device, int lengthBytes, Path folder)
      throws VerbsException, IOException {
    Path file = Files.createTempFile(folder, "card-costs", ".tmp");
    ProtectionDomain domain = null;
    HostMemory memory = null;
    try {
      domain = device.allocateProtectionDomain();
      memory = device.allocate(lengthBytes);
      MemoryRegion buffer = domain.register(memory, 0, lengthBytes, REMOTE_READ);
      return new CostMeter(domain, memory, buffer, lengthBytes, file);
    } catch (VerbsException | RuntimeException | Error e) {
      closeAll(null, memory, domain, file);
      throw e;
    }
  }

  /**
   * Adds microseconds, as median and quartiles, of the ways of serving cold and warm pages.
   *
   * @param rounds that count; one more before them loads classes
   */
  void measure(int rounds, ObjectNode row) throws VerbsException, IOException {
    long[] coldRegisterNs = new long[rounds];
    long[] coldCopyNs = new long[rounds];
    long[] warmRegisterNs = new long[rounds];
    long[] warmCopyNs = new long[rounds];
    byte[] content = new byte[lengthBytes];
    new Random(SEED).nextBytes(content);
    for (int i = -1; i < rounds; i++) {
      int round = Math.max(0, i);
      extend();
      coldRegisterNs[round] = register();
      extend();
      coldCopyNs[round] = copy();
      Files.write(file, content);
      warmRegisterNs[round] = register();
      warmCopyNs[round] = copy();
    }
    row.put("bytes", lengthBytes);
    ObjectNode cold = row.putObject("cold");
    put(cold.putObject("registerUs"), coldRegisterNs);
    put(cold.putObject("copyUs"), coldCopyNs);
    ObjectNode warm = row.putObject("warm");
    put(warm.putObject("registerUs"), warmRegisterNs);
    put(warm.putObject("copyUs"), warmCopyNs);
  }

  /** Removes all pages of the file, and extends it without writing. */
  private void extend() throws IOException {
    try (RandomAccessFile extended = new RandomAccessFile(file.toFile(), "rw")) {
      extended.setLength(0);
      extended.setLength(lengthBytes);
    }
  }

  private long register() throws VerbsException {
    return costs.registerNs(file, 0, lengthBytes);
  }

  private long copy() throws IOException {
    return costs.copyNs(file, 0, memory.slice(0, lengthBytes));
  }

  private static void put(ObjectNode node, long[] valuesNs) {
    Arrays.sort(valuesNs);
    int last = valuesNs.length - 1;
    node.put("median", tenthsOfUs(valuesNs[last / 2]));
    node.put("lower", tenthsOfUs(valuesNs[last / 4]));
    node.put("upper", tenthsOfUs(valuesNs[last - last / 4]));
  }

  private static double tenthsOfUs(long ns) {
    return Math.round(ns / NS_PER_US * TENTHS) / TENTHS;
  }

  @Override
  public void close() throws IOException {
    closeAll(buffer, memory, domain, file);
  }

  /** Goes on where one fails; null for those that were not created. */
  private static void closeAll(
      MemoryRegion buffer, HostMemory memory, ProtectionDomain domain, Path file)
      throws IOException {
    try {
      close(buffer, memory, domain);
    } finally {
      Files.deleteIfExists(file);
    }
  }

  private static void close(MemoryRegion buffer, HostMemory memory, ProtectionDomain domain) {
    try {
      if (buffer != null) {
        buffer.close();
      }
      if (memory != null) {
        memory.close();
      }
    } finally {
      if (domain != null) {
        domain.close();
      }
    }
  }
}
