// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** Behaviour of {@code ./dev/guest} on the machine of the test. */
@Tag("nightly")
@Isolated("It takes both processors.")
@Timeout(120)
final class GuestToolIT {
  private static final Guest TWO = Guest.nodes(2);

  /** A command that prints a line when it runs and does not end by itself. */
  private static final String[] UP_FOR_LONG = {"bash", "-c", "echo up; sleep 1000"};

  /** Words before a command on the host; it runs as the user nobody, whose home folder is /. */
  private static final String AS_USER_OF_HOST =
      "setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/ ";

  @Test
  void shouldKillHungCommandsAtTheTimeLimit() throws Exception {
    long started = System.nanoTime();
    try (RunningGuest running = TWO.timeout(Duration.ofSeconds(3)).start(UP_FOR_LONG)) {
      running.awaitLine("up");
      GuestResult result = running.await();
      assertThat(Duration.ofNanos(System.nanoTime() - started)).isLessThan(Duration.ofSeconds(60));
      assertThat(result.exitCode()).isEqualTo(GuestResult.TIMED_OUT);
      assertThat(result.output()).contains("guest: time limit of 3 s reached: killed");
      assertNothingIsLeft(running);
    }
  }

  @Test
  void shouldLeaveNothingWhenItIsTerminated() throws Exception {
    RunningGuest running = TWO.start(UP_FOR_LONG);
    running.awaitLine("up");
    assertThat(processes(running)).isNotEmpty();
    running.close();
    assertNothingIsLeft(running);
  }

  @Test
  void shouldNeedNoRoot() throws Exception {
    assumeTrue(uid() == 0, "run by an ordinary user, as all the other tests are");
    String mayMakeNamespaces = AS_USER_OF_HOST + "unshare --user --net --pid --fork true";
    assumeTrue(bashOnHost(mayMakeNamespaces).exitCode() == 0, "users may make no namespaces here");
    NodeResult result =
        bashOnHost(
            "copy=$(mktemp -d) && trap 'rm -rf $copy' EXIT && chmod 755 $copy"
                + " && cp -r ${TOOL%/*}/../integration-tests/guest $copy/tool"
                + " && mkdir $copy/cache && cp $($TOOL build) $copy/cache && chmod -R a+rX $copy"
                + " && cd / && SPARKRDMA_GUEST_CACHE=$copy/cache "
                + AS_USER_OF_HOST
                + "$copy/tool/guest run --nodes 2 --memory 256M --timeout 30"
                + " -- bash -c 'id -u; ping -c 1 -W 5 node2 >&2; ls -1 /sys/class/infiniband'");
    assertThat(result.exitCode()).as(result.err()).isZero();
    assertThat(result.lines())
        .containsExactlyInAnyOrder(
            "node1| 0", "node2| 0", "node1| rxe0", "node1| siw0", "node2| rxe0", "node2| siw0");
  }

  private static NodeResult bashOnHost(String line) throws IOException, InterruptedException {
    Path errors = Files.createTempFile("guest", ".err");
    try {
      ProcessBuilder builder = new ProcessBuilder("bash", "-c", line);
      builder.environment().put("TOOL", Build.property("it.guest.tool"));
      Process bash = builder.redirectError(errors.toFile()).start();
      String out = new String(bash.getInputStream().readAllBytes(), UTF_8);
      return new NodeResult(bash.waitFor(), out, Files.readString(errors));
    } finally {
      Files.delete(errors);
    }
  }

  private static void assertNothingIsLeft(RunningGuest running) throws IOException {
    assertThat(processes(running)).isEmpty();
    try (var runs = Files.list(stateRoot())) {
      assertThat(runs.map(run -> run.getFileName().toString())).doesNotContain(running.name());
    }
    // Guest memory would be a mount of its own.
    assertThat(Files.readString(Path.of("/proc/mounts"))).doesNotContain(running.name());
  }

  private static Path stateRoot() throws IOException {
    return Path.of("/tmp/sparkrdma-guest-" + uid());
  }

  private static int uid() throws IOException {
    return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
  }

  /** Processes that have the run's state directory, and so the kernels of it, on their line. */
  private static List<String> processes(RunningGuest running) {
    return ProcessHandle.allProcesses()
        .flatMap(process -> process.info().commandLine().stream())
        .filter(line -> line.contains("/" + running.name() + "/"))
        .toList();
  }
}
