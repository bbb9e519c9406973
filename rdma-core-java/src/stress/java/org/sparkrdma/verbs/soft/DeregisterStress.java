// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Set;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.ProcessIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * A peer reads, as {@code OneSided} does, while the owner deregisters the memory and reuses it: the
 * peer is refused, or reads bytes from before the deregistration.
 */
@JCStressTest
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "refused")
@Outcome(id = "7", expect = Expect.ACCEPTABLE, desc = "read before deregistration")
@Outcome(expect = Expect.FORBIDDEN, desc = "read bytes from after deregistration")
@State
public class DeregisterStress {
  private static final int LENGTH = 64;
  private static final int WORDS = 16;
  private static final int QUEUE_PAIR = 1;
  private static final int REFUSED = 0;
  private static final int SHARED = 7;
  private static final int FOREIGN = 9;
  private static final Ends ENDS = Ends.open();

  private final MemoryRegion region;
  private final int key;
  private final int index;

  /** Stands for the bytes in the region; plain memory, as those are. */
  private final int[] content = new int[WORDS];

  /** Adds a new region to the shared table. */
  public DeregisterStress() {
    region = ENDS.register();
    key = region.remote().remoteKey32();
    index = SharedTable.regionIndex(key);
    Arrays.fill(content, SHARED);
  }

  /** The peer: reports a foreign byte if it read one. */
  @Actor
  public void read(I_Result result) {
    ENDS.table.enter(ENDS.reader, QUEUE_PAIR, index);
    int brought = REFUSED;
    if (ENDS.table.isRegionLive(index, key)) {
      for (int word : content) {
        brought = Math.max(brought, word);
      }
    }
    result.r1 = brought;
    ENDS.table.leave(ENDS.reader);
  }

  /** The owner: the first step of closing a region, then reuse of the memory. */
  @Actor
  public void deregister() {
    ENDS.owner.retireRegion(index);
    Arrays.fill(content, FOREIGN);
  }

  /** The rest of closing; afterwards another region may use the index in the table. */
  @Arbiter
  public void close(I_Result result) {
    region.close();
  }

  /** An open device and a peer's view of its table, shared by all runs in one process. */
  private record Ends(
      SharedTable owner,
      ProtectionDomain domain,
      HostMemory memory,
      SharedTable table,
      int reader) {
    static Ends open() {
      try {
        SoftDevice device =
            SoftDevice.open(
                SoftSettings.of(EngineSettings.none()), HostIdentity.self(), true, closed -> {});
        SharedTable table =
            SharedTable.attach(device.directory.path().resolve(SharedDirectory.TABLE));
        return new Ends(
            device.table,
            device.allocateProtectionDomain(),
            device.allocate(LENGTH),
            table,
            table.claimReader(ProcessIdentity.self()));
      } catch (VerbsException e) {
        throw new IllegalStateException(e);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    MemoryRegion register() {
      try {
        return domain.register(memory, 0, LENGTH, Set.of(AccessFlag.REMOTE_READ));
      } catch (VerbsException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
