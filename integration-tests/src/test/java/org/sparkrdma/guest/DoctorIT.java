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
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(200)
final class DoctorIT {
  /** Words before a command; it runs as a user that may lock 64 KiB. */
  private static final String LIMITED = "ulimit -l 64; " + GuestTests.AS_NOBODY;

  /** The same user with the capability in effect, as {@code conf/java-with-ipc-lock} leaves it. */
  private static final String WITH_IPC_LOCK =
      "setpriv --reuid 65534 --clear-groups --inh-caps=-all,+ipc_lock --ambient-caps=+ipc_lock"
          + " --bounding-set=-all,+ipc_lock ";

  /** A copy, because that user may not be allowed to read the build's folder. */
  private static final String COPY =
      "install -m 644 " + Build.property("it.plugin.jar") + " /tmp/plugin.jar; ";

  /** The advice depends on the environment: on every host that of a container. */
  private static final String AS_CONTAINER = "touch /.dockerenv; ";

  private static final String DOCTOR =
      GuestJdk.home() + "/bin/java " + GuestJdk.START_SOON + " -jar /tmp/plugin.jar doctor -v";

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
                    + AS_CONTAINER
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
    int limited = lines.indexOf("exit 1");
    assertThat(limited).as("the second exit code").isGreaterThan(end);
    assertThat(lines.get(end + 1)).contains("RLIMIT_MEMLOCK=65536");
    assertThat(lines.get(limited + 1))
        .as("the same limit, with the capability")
        .startsWith("RDMA will be used: device rxe0 port 1 of engine ibverbs at [10.99.1.1/24");
    int capable = limited + 1 + lines.subList(limited + 1, lines.size()).indexOf("exit 0");
    assertThat(lines.subList(limited + 1, capable))
        .anyMatch(
            line -> line.startsWith("ok") && line.endsWith("may lock memory without a limit."));

    assertThat(lines).endsWith("exit 0");
  }

  @Test
  void shouldNameAWrongPeerAPeerWithoutListenerAndMissingDeviceFiles() throws Exception {
    GuestResult result =
        GuestTests.guest("rocev2", Duration.ofSeconds(150))
            .bash(
                COPY
                    + AS_CONTAINER
                    + (DOCTOR + " --peer nowhere.example; echo exit $?; ")
                    + (DOCTOR + " --peer 10.99.1.1; echo exit $?; ")
                    + (WITHOUT_FILES + "; echo exit $?"));

    assertThat(result.exitCode()).as(result.output()).isZero();
    List<String> lines = result.node(1).lines();
    lines.forEach(System.out::println);
    assertThat(lines.stream().filter(line -> line.startsWith("exit ")))
        .containsExactly("exit 1", "exit 1", "exit 1");
    int first = lines.indexOf("exit 1");
    int second = first + 1 + lines.subList(first + 1, lines.size()).indexOf("exit 1");
    assertThat(lines.get(0))
        .startsWith("RDMA will not be used: Peer nowhere.example is an unknown host");
    assertThat(lines.get(first + 1))
        .startsWith("RDMA will not be used: Peer 10.99.1.1 port 7474 is not reached by TCP");
    assertThat(lines.get(second + 1))
        .startsWith("RDMA will not be used: ")
        .contains("--device=/dev/infiniband");
  }
}
