// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.serve;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
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
 * Measures on one device and one file. The file's pages are in memory, like those of map outputs
 * that were just written. Closed by its creator.
 */
final class ServeCosts implements AutoCloseable {
  private static final Set<AccessFlag> REMOTE_READ = Set.of(AccessFlag.REMOTE_READ);
  private static final int STEP_BYTES = 1 << 20;

  private final Path file;
  private final int fileBytes;
  private final Random random;
  private final ProtectionDomain domain;
  private final HostMemory memory;
  private final MemoryRegion slot;
  private final FileCosts costs;
  private long copied;

  /**
   * @param file created here and deleted by {@link #close}
   * @param largestBytes length of the largest window
   */
  ServeCosts(Device device, Path file, int largestBytes, long seed)
      throws VerbsException, IOException {
    this.file = file;
    this.fileBytes = 2 * largestBytes;
    this.random = new Random(seed);
    write();
    domain = device.allocateProtectionDomain();
    memory = device.allocate(largestBytes);
    slot = domain.register(memory, 0, largestBytes, REMOTE_READ);
    costs = new FileCosts(domain, REMOTE_READ, System::nanoTime);
  }

  private void write() throws IOException {
    byte[] step = new byte[STEP_BYTES];
    try (FileChannel out =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (int done = 0; done < fileBytes; done += step.length) {
        random.nextBytes(step);
        out.write(ByteBuffer.wrap(step, 0, Math.min(step.length, fileBytes - done)));
      }
    }
  }

  /** Measures pairs for one length; the order within a pair alternates. */
  List<CostPair> pairs(int lengthBytes, int warmUps, int pairs) throws VerbsException, IOException {
    List<CostPair> measured = new ArrayList<>();
    for (int i = -warmUps; i < pairs; i++) {
      int offset = random.nextInt((fileBytes - lengthBytes) / STEP_BYTES + 1) * STEP_BYTES;
      offset = Math.min(offset, fileBytes - lengthBytes);
      long first = i % 2 == 0 ? register(offset, lengthBytes) : copy(offset, lengthBytes);
      long second = i % 2 == 0 ? copy(offset, lengthBytes) : register(offset, lengthBytes);
      if (i >= 0) {
        measured.add(i % 2 == 0 ? new CostPair(first, second) : new CostPair(second, first));
      }
    }
    return measured;
  }

  private long register(int offset, int lengthBytes) throws VerbsException {
    return costs.registerNs(file, offset, lengthBytes);
  }

  private long copy(int offset, int lengthBytes) throws IOException {
    copied += lengthBytes;
    return costs.copyNs(file, offset, memory.slice(0, lengthBytes));
  }

  /** Bytes copied so far. */
  long copiedBytes() {
    return copied;
  }

  @Override
  public void close() throws IOException {
    slot.close();
    memory.close();
    domain.close();
    Files.deleteIfExists(file);
  }
}
