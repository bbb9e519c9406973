// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
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
    List<List<String>> printed = printed(DOCTOR, LIMITED + DOCTOR, WITH_IPC_LOCK + DOCTOR);
    for (List<String> used : List.of(printed.get(0), printed.get(2))) {
      assertThat(used.get(0))
          .startsWith("RDMA will be used: device rxe0 port 1 of engine ibverbs at [10.99.1.1/24");
      assertThat(used).endsWith("exit 0");
    }
    assertThat(printed.get(1).get(0)).contains("RLIMIT_MEMLOCK=65536");
    assertThat(printed.get(1)).endsWith("exit 1");
    assertThat(printed.get(2))
        .anyMatch(
            line -> line.startsWith("ok") && line.endsWith("may lock memory without a limit."));
  }

  @Test
  void shouldNameAWrongPeerAPeerWithoutListenerAndMissingDeviceFiles() throws Exception {
    List<List<String>> printed =
        printed(DOCTOR + " --peer nowhere.example", DOCTOR + " --peer 10.99.1.1", WITHOUT_FILES);
    assertThat(printed)
        .allSatisfy(
            lines ->
                assertThat(lines)
                    .endsWith("exit 1")
                    .first()
                    .asString()
                    .startsWith("RDMA will not be used: "));
    assertThat(printed.get(0).get(0)).contains(": Peer nowhere.example is an unknown host");
    assertThat(printed.get(1).get(0)).contains(": Peer 10.99.1.1 port 7474 is not reached by TCP");
    assertThat(printed.get(2).get(0)).contains("--device=/dev/infiniband");
  }

  /** The lines of each command; the last one has its exit code. */
  private static List<List<String>> printed(String... commands) throws Exception {
    GuestResult result =
        GuestTests.guest("rocev2", Duration.ofSeconds(150))
            .bash(
                COPY + AS_CONTAINER + String.join("; echo exit $?; ", commands) + "; echo exit $?");
    assertThat(result.exitCode()).as(result.output()).isZero();
    List<List<String>> printed = new ArrayList<>(List.of(new ArrayList<>()));
    for (String line : result.node(1).lines()) {
      System.out.println(line);
      printed.get(printed.size() - 1).add(line);
      if (line.startsWith("exit ")) {
        printed.add(new ArrayList<>());
      }
    }
    assertThat(printed).hasSize(commands.length + 1);
    return printed.subList(0, commands.length);
  }
}
