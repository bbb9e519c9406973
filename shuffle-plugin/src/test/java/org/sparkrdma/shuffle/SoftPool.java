// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.spi.EngineSettings;

/** A pool of registered chunks on a device of the loopback engine, for one test. */
public final class SoftPool implements AutoCloseable {
  private static final long BUDGET_BYTES = 1 << 20;

  private final VerbsEngine engine;
  private final Device device;
  private final ProtectionDomain domain;
  private final RegisteredPool pool;

  /** Opens a pool whose chunks are all registered with one call. */
  public SoftPool(AccessFlag access, int chunkBytes, int chunks) throws VerbsException {
    engine = Verbs.choose("soft", EngineSettings.of(Map.of())).engine();
    device = engine.open(engine.devices().get(0).name());
    domain = device.allocateProtectionDomain();
    pool =
        new RegisteredPool(
            new OpenDevice(
                device, domain, new PinnedBudget(BUDGET_BYTES, chunkBytes), System::nanoTime),
            Set.of(access),
            chunkBytes,
            chunks,
            (long) chunks * chunkBytes);
  }

  /** Open until this is closed. */
  public RegisteredPool pool() {
    return pool;
  }

  /** Closes the pool with its device; fails when a chunk is still held. */
  @Override
  public void close() {
    assertThat(pool.chunksOut()).as("chunks still held").isZero();
    pool.close();
    domain.close();
    device.close();
    engine.close();
  }
}
