// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The command {@code doctor} of the packaged plug-in on kernel RDMA, without Spark: as root, as a
 * user who may lock 64 KiB, with peers that are not reached, and without device files.
 * docs/doctor.md shows these outputs.
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(200)
final class DoctorIT {
  /** Prefix of a command; it then runs as the user nobody, without any capability. */
  private static final String LIMITED =
      "ulimit -l 64; setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all ";

  /** The same user with the capability in effect, as {@code conf/java-with-ipc-lock} leaves it. */
  private static final String WITH_IPC_LOCK =
      "setpriv --reuid 65534 --clear-groups --inh-caps=-all,+ipc_lock --ambient-caps=+ipc_lock"
          + " --bounding-set=-all,+ipc_lock ";

  /** A copy, because that user may not be allowed to read the build's folder. */
  private static final String COPY =
      "install -m 644 " + Build.property("it.plugin.jar") + " /tmp/plugin.jar; ";

  private static final String DOCTOR =
      GuestJdk.home() + "/bin/java " + GuestJdk.START_SOON + " -jar /tmp/plugin.jar doctor";

  /**
   * As in a container without the device: the kernel has it, and the folder of its files is empty.
   */
  private static final String WITHOUT_FILES =
      "unshare --mount bash -c 'mount -t tmpfs tmpfs /dev/infiniband && " + DOCTOR + "'";

  @Test
  void shouldUseTheDeviceAsRootAndNameTheLimitOfLockedMemoryAsAnotherUser() throws Exception {
    GuestResult result =
        GuestTests.guest("rocev2", Duration.ofSeconds(150))
            .bash(
                COPY
                    + (DOCTOR + "; echo exit $?; ")
                    + (LIMITED + DOCTOR + "; echo exit $?; ")
                    + (WITH_IPC_LOCK + DOCTOR + "; echo exit $?"));

    assertThat(result.exitCode()).as(result.output()).isZero();
    List<String> lines = result.node(1).lines();
    lines.forEach(System.out::println);
    int end = lines.indexOf("exit 0");
    assertThat(end).as("the first exit code").isPositive();
    assertThat(lines.get(0))
        .startsWith("RDMA will be used: device rxe0 port 1 of engine ibverbs at [10.99.1.1/24");
    assertThat(lines.subList(0, end))
        .anyMatch(line -> line.contains("rxe0 port 1: link layer Ethernet, state ACTIVE"))
        .anyMatch(line -> line.startsWith("ok") && line.endsWith("A file there was registered."))
        .anyMatch(line -> line.startsWith("ok       rxe0 port 1: all counters are 0 of lost"))
        .anyMatch(line -> line.startsWith("note     rxe0 port 1: not read: ECN marks, CNPs ("));
    assertThat(lines.get(end + 1))
        .startsWith("RDMA will not be used: memory cannot be registered")
        .contains("RLIMIT_MEMLOCK=65536");
    int limited = lines.indexOf("exit 1");
    assertThat(limited).as("the second exit code").isGreaterThan(end);
    assertThat(lines.subList(end + 1, limited))
        .anyMatch(
            line -> line.startsWith("problem  This process may lock 65536 bytes (soft limit)"));
    assertThat(lines.get(limited + 1))
        .as("the same limit, with the capability")
        .startsWith("RDMA will be used: device rxe0 port 1 of engine ibverbs at [10.99.1.1/24");
    assertThat(lines.subList(limited + 1, lines.size()))
        .anyMatch(
            line -> line.startsWith("ok") && line.endsWith("it has the capability CAP_IPC_LOCK."))
        .endsWith("exit 0");
  }

  @Test
  void shouldNameAWrongPeerAPeerWithoutListenerAndMissingDeviceFiles() throws Exception {
    GuestResult result =
        GuestTests.guest("rocev2", Duration.ofSeconds(150))
            .bash(
                COPY
                    + (DOCTOR + " --peer nowhere.example; echo exit $?; ")
                    + (DOCTOR + " --peer 10.99.1.1; echo exit $?; ")
                    + (WITHOUT_FILES + "; echo exit $?"));

    assertThat(result.exitCode()).as(result.output()).isZero();
    List<String> lines = result.node(1).lines();
    lines.forEach(System.out::println);
    assertThat(lines.stream().filter(line -> line.startsWith("RDMA will ")))
        .containsExactly(
            "RDMA will not be used: Peer nowhere.example is an unknown host: its name has no"
                + " address here",
            "RDMA will not be used: Peer 10.99.1.1 port 7474 is not reached by TCP: Connection"
                + " refused",
            "RDMA will not be used: ibverbs: the kernel has RDMA devices, but /dev/infiniband is"
                + " not there: start the container with --device=/dev/infiniband, or load the"
                + " module ib_uverbs");
    assertThat(lines)
        .anyMatch(
            line ->
                line.startsWith("problem  The kernel has RDMA devices [rxe0")
                    && line.endsWith("but this process sees no /dev/infiniband/uverbs file."))
        .containsSequence(
            "problem  Peer nowhere.example is an unknown host: its name has no address here.",
            "         To do: correct the name, or give the address of the peer");
    assertThat(lines.stream().filter(line -> line.startsWith("exit ")))
        .containsExactly("exit 1", "exit 1", "exit 1");
  }
}
