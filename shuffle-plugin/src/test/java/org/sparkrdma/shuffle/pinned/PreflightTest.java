// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.settings.ExecutorNeeds;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.TransportType;

class PreflightTest {
  private static final long GIB = 1L << 30;
  private static final int DEPTH = 5_440;
  private static final ExecutorNeeds NEEDS =
      new ExecutorNeeds(DEPTH, 53, 33, 532_480, (1 << 20) + 16_384);
  private static final OptionalLong UNLIMITED = OptionalLong.empty();

  private final List<String> closed = new ArrayList<>();
  private TransportType transport = TransportType.IWARP;
  private String refusedCall = "";
  private int errno = 12;

  private void check(Optional<Long> set, OptionalLong lockable) throws VerbsException {
    MachineMemory machine = new MachineMemory(16 * GIB, false, lockable, GIB, 4_096, 4);
    PinnedLimit limit =
        PinnedLimit.of(set, machine, SparkMemory.of(key -> null), OptionalLong.empty());
    try (PinnedBudget budget = new PinnedBudget(limit.bytes(), 4_096)) {
      Preflight.check(fake(Device.class, "device"), budget, limit, machine, NEEDS);
    }
  }

  private void refuse(String call, int error) {
    refusedCall = call;
    errno = error;
  }

  /** A device that can refuse a call and records what is closed. */
  private <T> T fake(Class<T> type, String name) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "info" ->
                      new DeviceInfo(
                          "rxe0",
                          "ibverbs",
                          transport,
                          1,
                          new DeviceLimits(1, 64, 1, 1, 1, 1, 1, 1, 1, 56, 1),
                          Set.of(),
                          List.of());
                  case "allocateProtectionDomain" -> fake(ProtectionDomain.class, "domain");
                  case "allocate" -> fake(HostMemory.class, "memory");
                  case "register" -> {
                    requireAllowed("ibv_reg_mr");
                    yield fake(MemoryRegion.class, "region");
                  }
                  case "createCompletionQueue" -> {
                    assertThat(arguments[0]).isEqualTo(DEPTH);
                    requireAllowed("ibv_create_cq");
                    yield fake(CompletionQueue.class, "queue");
                  }
                  case "testQueuePair" -> {
                    QueuePairSettings settings = (QueuePairSettings) arguments[0];
                    assertThat(settings.sendDepth()).isEqualTo(NEEDS.sendDepth());
                    assertThat(settings.receiveDepth()).isEqualTo(NEEDS.receiveDepth());
                    requireAllowed("ibv_create_qp");
                    yield null;
                  }
                  case "createCompletionChannel" -> fake(CompletionChannel.class, "channel");
                  case "close" -> {
                    closed.add(name);
                    yield null;
                  }
                  default -> 0L;
                }));
  }

  private void requireAllowed(String call) throws VerbsException {
    if (call.equals(refusedCall)) {
      throw new VerbsException(call, errno, call + " failed: errno=" + errno, null);
    }
  }

  @Test
  void shouldCloseAllAndLogNothingOnSuccess() throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      check(Optional.empty(), UNLIMITED);
      assertThat(closed).containsExactly("region", "memory", "queue", "channel", "domain");
      assertThat(log.warnings()).isEmpty();
    }
  }

  @Test
  void shouldRegisterNothingOnTheLoopbackEngine() throws Exception {
    transport = TransportType.LOOPBACK;
    refuse("ibv_reg_mr", 12);
    check(Optional.empty(), OptionalLong.of(65_536_000));
    assertThat(closed).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 11, 12, 13})
  void shouldExplainARefusalWithTheNumberNeededAndTheFix(int error) {
    refuse("ibv_reg_mr", error);
    assertThatThrownBy(() -> check(Optional.empty(), OptionalLong.of(3_000_000)))
        .isInstanceOf(VerbsException.class)
        .hasMessageStartingWith(
            "memory cannot be registered: call=ibv_reg_mr errno="
                + error
                + " RLIMIT_MEMLOCK=3000000 neededBytes=1073741824: let executors lock 1073741824"
                + " bytes")
        .hasMessageContainingAll("LimitMEMLOCK", "--ulimit memlock", "ulimit -l", "IPC_LOCK")
        .hasRootCauseMessage("ibv_reg_mr failed: errno=" + error);
    assertThat(closed).containsExactly("memory", "queue", "channel", "domain");
  }

  @ParameterizedTest
  @CsvSource({"ibv_create_cq, 2", "ibv_create_qp, 5"})
  void shouldExplainThatTheRingsOfAQueueCannotBePinned(String call, int objects) {
    refuse(call, 12);
    assertThatThrownBy(() -> check(Optional.empty(), OptionalLong.of(3_000_000)))
        .hasMessageStartingWith(
            "memory cannot be registered: call=" + call + " errno=12 RLIMIT_MEMLOCK=3000000");
    assertThat(closed).hasSize(objects);
  }

  @ParameterizedTest
  @ValueSource(ints = {11, 12})
  void shouldNotAdviseAHigherLimitOfLockedMemoryWhereThereIsNone(int error) {
    refuse("ibv_create_qp", error);
    assertThatThrownBy(() -> check(Optional.empty(), UNLIMITED))
        .hasMessageStartingWith(
            "memory cannot be registered: call=ibv_create_qp errno="
                + error
                + " RLIMIT_MEMLOCK=unlimited: the device, the kernel or the control group has no"
                + " room: start fewer executors on this host, or raise hca_object in rdma.max")
        .hasMessageNotContaining("ulimit");
    assertThat(closed).hasSize(5);
  }

  @Test
  void shouldNotMentionLimitsWhenThePagesCannotBePinned() {
    refuse("ibv_reg_mr", 14);
    assertThatThrownBy(() -> check(Optional.empty(), OptionalLong.of(3_000_000)))
        .hasMessage(
            "memory cannot be registered: call=ibv_reg_mr errno=14: ibv_reg_mr failed: errno=14");
  }

  @Test
  void shouldWarnWhenTheLimitLeavesHardlyAnything() throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      check(Optional.empty(), OptionalLong.of(8 << 20));
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("limitBytes=8388608: let executors lock 1073741824 bytes");
    }
  }

  @Test
  void shouldUseNoMoreThanAvailable() {
    assertThatCode(() -> check(Optional.of(4_096L), UNLIMITED)).doesNotThrowAnyException();
    assertThat(closed).isEmpty();
  }
}
