// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

/** Each check at its limit and one beyond it. */
class LimitChecksTest {
  private final FakeDevice device = new FakeDevice();
  private final DeviceLimits limits = device.info().limits();
  private CompletionQueue queue;
  private MemoryRegion region;

  @BeforeEach
  void open() throws VerbsException {
    queue = device.createCompletionQueue(1, null);
    region =
        device
            .allocateProtectionDomain()
            .register(device.allocate(64), 0, 64, Set.of(AccessFlag.LOCAL_WRITE));
  }

  private static void allows(ThrowingCallable check) {
    assertThatCode(check).doesNotThrowAnyException();
  }

  private static void refuses(String reason, ThrowingCallable check) {
    assertThatThrownBy(check)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void shouldRequireAByteOfMemory() {
    allows(() -> LimitChecks.checkMemory(1));
    refuses("lengthBytes=0", () -> LimitChecks.checkMemory(0));
  }

  @Test
  void shouldLimitTheDepthOfACompletionQueue() {
    int limit = limits.maxCompletionQueueDepth();
    allows(() -> LimitChecks.checkCompletionQueue(1, limits));
    allows(() -> LimitChecks.checkCompletionQueue(limit, limits));
    refuses("capacity=0", () -> LimitChecks.checkCompletionQueue(0, limits));
    assertThatThrownBy(() -> LimitChecks.checkCompletionQueue(limit + 1, limits))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("capacity=" + (limit + 1) + " limit=" + limit);
  }

  @Test
  void shouldRequireACompletionVectorOfTheDevice() {
    int vectors = limits.completionVectors();
    allows(() -> LimitChecks.checkCompletionVector(0, limits));
    allows(() -> LimitChecks.checkCompletionVector(vectors - 1, limits));
    refuses("vector=-1", () -> LimitChecks.checkCompletionVector(-1, limits));
    refuses("vector=" + vectors, () -> LimitChecks.checkCompletionVector(vectors, limits));
  }

  @Test
  void shouldRequireLocalWriteAccessForRemoteWriteAccess() {
    allows(() -> LimitChecks.checkAccess(Set.of()));
    allows(() -> LimitChecks.checkAccess(Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.LOCAL_WRITE)));
    refuses("needs LOCAL_WRITE", () -> LimitChecks.checkAccess(Set.of(AccessFlag.REMOTE_WRITE)));
  }

  @Test
  void shouldLetPeersOnlyReadFiles() {
    allows(() -> LimitChecks.checkFileAccess(Set.of(AccessFlag.REMOTE_READ)));
    refuses("REMOTE_READ only", () -> LimitChecks.checkFileAccess(Set.of()));
    for (AccessFlag write : List.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
      refuses(
          "REMOTE_READ only",
          () -> LimitChecks.checkFileAccess(Set.of(AccessFlag.REMOTE_READ, write)));
    }
  }

  @Test
  void shouldPageOnDemandOnlyWhereTheDeviceCan() {
    DeviceInfo paging =
        new DeviceInfo(
            "fake1",
            "fake",
            Transport.LOOPBACK,
            1,
            limits,
            Set.of(Capability.ON_DEMAND_PAGING),
            List.of());
    Set<AccessFlag> onDemand = Set.of(AccessFlag.ON_DEMAND);
    allows(() -> LimitChecks.checkOnDemand(onDemand, paging));
    allows(() -> LimitChecks.checkOnDemand(Set.of(), device.info()));
    assertThatThrownBy(() -> LimitChecks.checkOnDemand(onDemand, device.info()))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("device=fake0");
  }

  @Test
  void shouldRequireARangeWithinItsLimit() {
    allows(() -> LimitChecks.checkRange(0, 64, 64));
    allows(() -> LimitChecks.checkRange(63, 1, 64));
    refuses("lengthBytes=0", () -> LimitChecks.checkRange(0, 0, 64));
    assertThatThrownBy(() -> LimitChecks.checkRange(1, 64, 64))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> LimitChecks.checkRange(-1, 1, 64))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> LimitChecks.checkRange(Long.MAX_VALUE, Long.MAX_VALUE, 64))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void shouldLimitEachSizeOfAQueuePair() {
    int depth = limits.maxQueuePairDepth();
    int elements = limits.maxSge();
    int inline = limits.maxInlineBytes();
    allows(() -> checkQueuePair(depth, depth, elements, inline));
    refuses("sendDepth=9", () -> checkQueuePair(depth + 1, depth, elements, inline));
    refuses("receiveDepth=9", () -> checkQueuePair(depth, depth + 1, elements, inline));
    refuses("maxSge=3", () -> checkQueuePair(depth, depth, elements + 1, inline));
    refuses("maxInlineBytes=17", () -> checkQueuePair(depth, depth, elements, inline + 1));
  }

  private void checkQueuePair(int sends, int receives, int elements, int inline) {
    LimitChecks.checkQueuePair(
        new QueuePairSettings(queue, queue, sends, receives, elements, inline, Set.of()), limits);
  }

  @Test
  void shouldLimitPrivateData() {
    allows(() -> LimitChecks.checkPrivateData(new byte[56], 56));
    refuses("lengthBytes=57 limit=56", () -> LimitChecks.checkPrivateData(new byte[57], 56));
  }

  @Test
  void shouldLimitElementsAndBytesOfARequest() {
    WorkRequest request = new WorkRequest(2).send(1).local(region, 0, 8).local(region, 8, 8);
    allows(() -> LimitChecks.checkLength(request, 2, 16));
    refuses("elements=2 limit=1", () -> LimitChecks.checkLength(request, 1, 16));
    refuses("lengthBytes=16 limit=15", () -> LimitChecks.checkLength(request, 2, 15));
  }
}
