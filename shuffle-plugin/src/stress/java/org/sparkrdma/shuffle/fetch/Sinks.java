// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.Map;
import java.util.Set;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.spi.EngineSettings;

/** Receive memory of the loopback engine for all blocks that one process tries. Any thread. */
final class Sinks {
  static final int LENGTH = 64;

  private static final int CHUNKS_PER_REGION = 1 << 16;
  private static final long LIMIT = 1L << 30;
  private static final RegisteredPool POOL = open();

  private Sinks() {}

  /**
   * Leases a chunk, the one released last unless another thread took it, and writes all its bytes.
   */
  static RegisteredChunk take(byte content) {
    RegisteredChunk chunk = POOL.tryTake().orElseThrow();
    for (int i = 0; i < LENGTH; i++) {
      chunk.slice(0, LENGTH).put(i, content);
    }
    return chunk;
  }

  /** A chunk as {@link #take}, as the memory of a block. */
  static FetchedBlock memory(byte content) {
    RegisteredChunk chunk = take(content);
    FetchedBlock memory = new FetchedBlock();
    memory.add(chunk, 0, LENGTH);
    chunk.release();
    return memory;
  }

  private static RegisteredPool open() {
    VerbsEngine engine = Verbs.choose("soft", EngineSettings.of(Map.of())).engine();
    try {
      Device device = engine.open(engine.devices().get(0).name());
      return new RegisteredPool(
          new OpenDevice(
              device,
              device.allocateProtectionDomain(),
              new PinnedBudget(LIMIT, LENGTH),
              System::nanoTime),
          Set.of(AccessFlag.LOCAL_WRITE),
          LENGTH,
          CHUNKS_PER_REGION,
          LIMIT);
    } catch (VerbsException e) {
      throw new IllegalStateException(e);
    }
  }
}
