// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.SoftPool;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;

/** Slots that a peer cannot release: those of its cancelled answers. */
@Timeout(60)
class AbandonedSlotsTest {
  private static final int SLOT = 4096;
  private static final int SLOTS = 4;
  private static final ServeSettings SETTINGS =
      new ServeSettings(
          Mode.AUTO,
          ServerFixture.WINDOW,
          SLOT,
          SLOTS,
          Duration.ofSeconds(1),
          100,
          16,
          100,
          Duration.ofSeconds(1),
          false,
          false);

  private final PeerShare share = new PeerShare(SETTINGS, 1 << 20);
  private final Lease answer = new Lease(1, 9, share);
  private final Lease other = new Lease(2, 9, share);
  private SoftPool soft;

  @BeforeEach
  void open() throws VerbsException {
    soft = new SoftPool(AccessFlag.REMOTE_READ, SLOT, SLOTS);
  }

  @AfterEach
  void close() {
    soft.close();
  }

  private void addSlot(Lease lease) {
    lease.add(soft.pool().tryTake().orElseThrow());
  }

  @Test
  void shouldCountAsHeldOnlyWhatAReaderCanRelease() {
    assertThat(share.holdsSlots()).isFalse();
    addSlot(answer);
    assertThat(share.holdsSlots()).as("of an answer in progress").isTrue();
    answer.cancel();
    answer.leaveOut();
    addSlot(answer);
    assertThat(share.holdsSlots()).as("of a cancelled answer, once").isFalse();

    addSlot(other);
    other.begin(Long.MAX_VALUE);
    assertThat(share.holdsSlots()).as("of a lease").isTrue();
    answer.end(null);
    assertThat(share.holdsSlots()).as("still of the lease").isTrue();
    other.end(null);
    assertThat(share.holdsSlots()).isFalse();
  }
}
