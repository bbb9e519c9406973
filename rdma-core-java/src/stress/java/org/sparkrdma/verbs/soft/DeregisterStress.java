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
import org.sparkrdma.verbs.soft.shared.RegionKeys;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * A peer reads while the owner deregisters and uses the memory for something else, as {@code
 * OneSided} does it: the peer is refused, or reads what was there while its key was good.
 */
@JCStressTest
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "refused")
@Outcome(id = "7", expect = Expect.ACCEPTABLE, desc = "read before")
@Outcome(expect = Expect.FORBIDDEN, desc = "read what is no peer's business")
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

  /** Stand for the bytes in the region; plain as those are. */
  private final int[] content = new int[WORDS];

  /** A region of its own in the one table. */
  public DeregisterStress() {
    region = ENDS.register();
    key = region.remote().remoteKey();
    index = RegionKeys.indexOf(key);
    Arrays.fill(content, SHARED);
  }

  /** The peer; whatever foreign it sees is what it brought. */
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

  /** The owner: what closing a region begins with, and the first that it does with the memory. */
  @Actor
  public void deregister() {
    ENDS.owner.retireRegion(index);
    Arrays.fill(content, FOREIGN);
  }

  /** The rest of closing, after which the place in the table is another region's. */
  @Arbiter
  public void close(I_Result result) {
    region.close();
  }

  /** An open device, and a peer's view of its table, for all that one process tries. */
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
                SoftSettings.of(EngineSettings.none()), HostIdentity.self(), closed -> {});
        SharedTable table =
            SharedTable.attach(
                device.context().shared().directory().path().resolve(SharedDirectory.TABLE));
        return new Ends(
            device.context().shared().table(),
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
