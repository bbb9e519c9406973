// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;

/** Leases of a window, counted for each peer. */
class FileWindowTest {
  private static final ServeSettings SETTINGS = ShuffleSettings.of(Map.of()).serve();
  private static final int PEERS = 5;

  private final FileWindow window = new FileWindow(null, 0, new Region(), Optional.empty());

  private record Region() implements MemoryRegion {
    @Override
    public long address() {
      return 1;
    }

    @Override
    public long lengthBytes() {
      return 1;
    }

    @Override
    public Set<AccessFlag> access() {
      return Set.of();
    }

    @Override
    public RemoteRegion remote() {
      return new RemoteRegion(1, 1, 1);
    }

    @Override
    public void close() {}
  }

  private static List<PeerShare> peers() {
    List<PeerShare> peers = new ArrayList<>();
    for (int i = 0; i < PEERS; i++) {
      peers.add(new PeerShare(SETTINGS, 1 << 20));
    }
    return peers;
  }

  @Test
  void shouldCountTheLeasesOfEachPeerInAnyOrder() {
    List<PeerShare> peers = peers();
    Random random = new Random(5);
    Map<PeerShare, Integer> expected = new HashMap<>();
    for (int i = 0; i < 10_000; i++) {
      PeerShare peer = peers.get(random.nextInt(PEERS));
      int before = expected.getOrDefault(peer, 0);
      if (before > 0 && random.nextInt(3) > 0) {
        assertThat(window.removeHolder(peer)).as("the last one").isEqualTo(before == 1);
        expected.put(peer, before - 1);
      } else {
        assertThat(window.addHolder(peer)).as("the first one").isEqualTo(before == 0);
        expected.put(peer, before + 1);
      }
      for (PeerShare each : peers) {
        assertThat(window.isHeldBy(each)).isEqualTo(expected.getOrDefault(each, 0) > 0);
      }
    }
  }

  @Test
  void shouldAllocateNothingWhenALeaseEnds() {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    List<PeerShare> peers = peers();
    long thread = Thread.currentThread().getId();
    long allocated = 0;
    for (int round = 0; round < 1_000; round++) {
      for (int i = 0; i < PEERS; i++) {
        window.addHolder(peers.get(i));
      }
      long before = threads.getThreadAllocatedBytes(thread);
      for (int i = 0; i < PEERS; i++) {
        window.removeHolder(peers.get(i));
      }
      allocated += threads.getThreadAllocatedBytes(thread) - before;
    }
    assertThat(allocated).isZero();
  }

  /** Usually one peer at a time reads a window. */
  @Test
  void shouldAllocateNothingForALeaseOfTheOnlyPeer() {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    PeerShare peer = peers().get(0);
    long thread = Thread.currentThread().getId();
    long before = threads.getThreadAllocatedBytes(thread);
    long cost = threads.getThreadAllocatedBytes(thread) - before;
    before = threads.getThreadAllocatedBytes(thread);
    for (int round = 0; round < 1_000; round++) {
      peer.add(window);
      peer.add(window);
      peer.remove(window);
      peer.remove(window);
    }
    assertThat(threads.getThreadAllocatedBytes(thread) - before).isEqualTo(cost);
  }
}
