// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
import org.sparkrdma.verbs.device.Transport;

class PreflightTest {
  private static final long GIB = 1L << 30;
  private static final int DEPTH = 5_440;
  private static final ExecutorNeeds NEEDS =
      new ExecutorNeeds(DEPTH, 53, 33, 532_480, 3, 16_384, 1 << 20);
  private static final Map<String, String> POD = Map.of("KUBERNETES_SERVICE_HOST", "10.0.0.1");

  @TempDir private Path root;
  private final List<String> closed = new ArrayList<>();
  private Transport transport = Transport.IWARP;
  private int refusal;
  private int queueRefusal;
  private int queuePairRefusal;
  private int queuePairDepth = NEEDS.sendDepth();

  private MachineMemory machine(OptionalLong lockable) {
    return new MachineMemory(
        OptionalLong.of(16 * GIB), OptionalLong.empty(), lockable, false, GIB, 4_096, 4, 1);
  }

  private void check(Map<String, String> environment, Optional<Long> set, OptionalLong lockable)
      throws VerbsException {
    MachineMemory machine = machine(lockable);
    PinnedLimit limit = PinnedLimit.of(set, machine, SparkMemory.of(key -> null), true);
    try (PinnedBudget budget = new PinnedBudget(limit.bytes(), 4_096)) {
      new Preflight(environment, root).check(device(), budget, limit, machine, NEEDS);
    }
  }

  private Device device() {
    return fake(Device.class, "device");
  }

  /** A device that can refuse registration and records what is closed. */
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
                          new DeviceLimits(1, queuePairDepth, 1, 1, 1, 1, 1, 1, 1, 0, 56, 1),
                          Set.of(),
                          List.of());
                  case "allocateProtectionDomain" -> fake(ProtectionDomain.class, "domain");
                  case "allocate" -> fake(HostMemory.class, "memory");
                  case "register" -> {
                    if (refusal != 0) {
                      throw new VerbsException(
                          "ibv_reg_mr", refusal, "ibv_reg_mr failed: errno=" + refusal, null);
                    }
                    yield fake(MemoryRegion.class, "region");
                  }
                  case "createCompletionQueue" -> {
                    assertThat(arguments[0]).isEqualTo(DEPTH);
                    if (queueRefusal != 0) {
                      throw new VerbsException(
                          "ibv_create_cq", queueRefusal, "ibv_create_cq failed", null);
                    }
                    yield fake(CompletionQueue.class, "queue");
                  }
                  case "testQueuePair" -> {
                    QueuePairSettings settings = (QueuePairSettings) arguments[0];
                    assertThat(settings.sendDepth()).isEqualTo(NEEDS.sendDepth());
                    assertThat(settings.receiveDepth()).isEqualTo(NEEDS.receiveDepth());
                    if (queuePairRefusal != 0) {
                      throw new VerbsException(
                          "ibv_create_qp", queuePairRefusal, "ibv_create_qp failed", null);
                    }
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

  @Test
  void shouldDeregisterTheTestRegionAndLogNothingOnSuccess() throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      check(Map.of(), Optional.empty(), OptionalLong.empty());
      assertThat(closed)
          .containsExactly(
              "region", "region", "region", "region", "region", "memory", "queue", "channel",
              "domain", "domain");
      assertThat(log.warnings()).isEmpty();
    }
  }

  @Test
  void shouldRegisterNothingOnTheLoopbackEngine() throws Exception {
    transport = Transport.LOOPBACK;
    refusal = 12;
    check(Map.of(), Optional.empty(), OptionalLong.of(65_536));
    assertThat(closed).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 11, 12, 13})
  void shouldExplainARefusalWithTheNumberNeededAndTheFix(int errno) {
    refusal = errno;
    assertThatThrownBy(() -> check(POD, Optional.empty(), OptionalLong.of(65_536)))
        .isInstanceOf(VerbsException.class)
        .hasMessageStartingWith(
            "memory cannot be registered: call=ibv_reg_mr errno="
                + errno
                + " RLIMIT_MEMLOCK=65536 neededBytes=2147483648: in Kubernetes add the capability"
                + " IPC_LOCK")
        .hasMessageContainingAll(
            "LimitMEMLOCK=2147483648", "--ulimit memlock=2147483648", "ulimit -l 2097152")
        .hasRootCauseMessage("ibv_reg_mr failed: errno=" + errno);
    assertThat(closed).containsExactly("memory", "queue", "channel", "domain", "domain");
  }

  @Test
  void shouldExplainThatTheRingOfACompletionQueueCannotBePinned() {
    queueRefusal = 12;
    assertThatThrownBy(() -> check(POD, Optional.empty(), OptionalLong.of(300_000)))
        .hasMessageStartingWith(
            "memory cannot be registered: call=ibv_create_cq errno=12 RLIMIT_MEMLOCK=300000")
        .hasMessageContaining("IPC_LOCK");
    assertThat(closed).containsExactly("channel", "domain", "domain");
  }

  @Test
  void shouldExplainThatTheRingsOfAQueuePairCannotBePinned() {
    queuePairRefusal = 12;
    assertThatThrownBy(() -> check(POD, Optional.empty(), OptionalLong.of(3_000_000)))
        .hasMessageStartingWith(
            "memory cannot be registered: call=ibv_create_qp errno=12 RLIMIT_MEMLOCK=3000000");
    assertThat(closed).hasSize(10);
  }

  @Test
  void shouldRejectADeviceWhoseQueuePairsHaveTooFewEntries() {
    queuePairDepth = NEEDS.sendDepth() - 3;
    assertThatThrownBy(() -> check(Map.of(), Optional.empty(), OptionalLong.empty()))
        .isInstanceOf(VerbsException.class)
        .hasMessage(
            "the queue pairs of device rxe0 have at most 50 entries, and a connection needs 53");
    assertThat(closed).isEmpty();
  }

  @Test
  void shouldNotAdviseAHigherLimitWhereThereIsNone() {
    queuePairRefusal = 12;
    assertThatThrownBy(() -> check(POD, Optional.empty(), OptionalLong.empty()))
        .hasMessageStartingWith(
            "the device or the kernel has no room for an executor: call=ibv_create_qp errno=12"
                + " RLIMIT_MEMLOCK=unlimited: start fewer executors on this host")
        .hasMessageNotContaining("ulimit");
    assertThat(closed).hasSize(10);
  }

  @Test
  void shouldReportTheUsersSettingAsRequired() {
    refusal = 12;
    assertThatThrownBy(() -> check(Map.of(), Optional.of(GIB), OptionalLong.of(65_536)))
        .hasMessageContaining("neededBytes=1073741824: raise it with ulimit -l 1048576 in");
  }

  @Test
  void shouldNotMentionLimitsWhenThePagesCannotBePinned() {
    refusal = 14;
    assertThatThrownBy(() -> check(POD, Optional.empty(), OptionalLong.of(65_536)))
        .hasMessageContaining("the kernel cannot pin this process's memory")
        .hasMessageNotContaining("ulimit");
    refusal = 95;
    assertThatThrownBy(() -> check(POD, Optional.empty(), OptionalLong.of(65_536)))
        .hasMessageEndingWith("ibv_reg_mr failed: errno=95");
  }

  @Test
  void shouldWarnWhenTheLimitLeavesHardlyAnything() throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      check(POD, Optional.empty(), OptionalLong.of(8 << 20));
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("RLIMIT_MEMLOCK=8388608 neededBytes=2147483648: in Kubernetes");
    }
  }

  @Test
  void shouldWarnOfASettingAboveTheLimits() throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      check(Map.of(), Optional.of(GIB), OptionalLong.of(GIB / 2));
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("spark.shuffle.rdma.pinned.max=1073741824 exceeds RLIMIT_MEMLOCK");
    }
  }

  @Test
  void shouldUseNoMoreThanAvailable() {
    assertThatCode(() -> check(Map.of(), Optional.of(4_096L), OptionalLong.empty()))
        .doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource({
    "KUBERNETES_SERVICE_HOST=10.0.0.1, '', KUBERNETES",
    "CONTAINER_ID=container_e01_1_1_01_000002, '', YARN",
    "CONTAINER_ID=something, '', SHELL",
    "A=b, .dockerenv, CONTAINER",
    "A=b, run/.containerenv, CONTAINER",
    "INVOCATION_ID=1, '', SYSTEMD",
    "INVOCATION_ID=1, .dockerenv, CONTAINER",
    "A=b, '', SHELL",
  })
  void shouldDetectItsEnvironment(String variable, String file, MemlockRemedy expected)
      throws Exception {
    if (!file.isEmpty()) {
      Files.createDirectories(root.resolve(file).getParent());
      Files.createFile(root.resolve(file));
    }
    String[] pair = variable.split("=", 2);
    assertThat(MemlockRemedy.current(Map.of(pair[0], pair[1]), root)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "KUBERNETES_SERVICE_HOST, 1, in Kubernetes add the capability IPC_LOCK",
    "CONTAINER_ID, container_1, on YARN set LimitMEMLOCK=5000 in the NodeManager's",
    "INVOCATION_ID, 1, set LimitMEMLOCK=5000 in the systemd unit",
    "A, b, raise it with ulimit -l 5 in the shell",
  })
  void shouldPutTheFixThatFitsFirstAndNameTheOthers(String key, String value, String first) {
    assertThat(MemlockRemedy.sentences(Map.of(key, value), root, 5_000))
        .startsWith(first)
        .contains("IPC_LOCK", "LimitMEMLOCK", "--ulimit memlock=5000", "ulimit -l 5", "YARN");
  }
}
