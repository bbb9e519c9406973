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
 * The command {@code doctor} of the packaged plug-in on kernel RDMA, without Spark: as root, and as
 * a user who may lock 64 KiB.
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(200)
final class DoctorIT {
  /** Prefix of a command; it then runs as the user nobody, without any capability. */
  private static final String LIMITED =
      "ulimit -l 64; setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all ";

  @Test
  void shouldUseTheDeviceAsRootAndNameTheLimitOfLockedMemoryAsAnotherUser() throws Exception {
    // A copy, because that user may not be allowed to read the build's folder.
    String doctor =
        GuestJdk.home() + "/bin/java " + GuestJdk.START_SOON + " -jar /tmp/plugin.jar doctor";
    GuestResult result =
        GuestTests.guest("rocev2", Duration.ofSeconds(150))
            .bash(
                ("install -m 644 " + Build.property("it.plugin.jar") + " /tmp/plugin.jar; ")
                    + (doctor + "; echo exit $?; ")
                    + (LIMITED + doctor + "; echo exit $?"));

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
    assertThat(lines.subList(end + 1, lines.size()))
        .anyMatch(
            line -> line.startsWith("problem  This process may lock 65536 bytes (soft limit)"))
        .endsWith("exit 1");
  }
}
