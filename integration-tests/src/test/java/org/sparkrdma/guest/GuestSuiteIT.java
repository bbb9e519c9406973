// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Test classes of the verbs layer and of the plug-in on kernel RDMA, in one kernel. */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(900)
final class GuestSuiteIT {
  private static final String ENGINE = "org.sparkrdma.verbs.ibverbs.";
  private static final String TRANSPORT = "org.sparkrdma.shuffle.transport.";

  /** Of the stress of killed servers. */
  private static final long SECONDS = Long.getLong("stress.seconds", 600);

  /** Start and end of the kernel, the last server, and blocks that are still waited for. */
  private static final long REST_SECONDS = 180;

  @TempDir private Path directory;

  /** Of every day on the newer Java only; on the other one {@link CardIT} runs it on RoCE v2. */
  @Tag("nightly")
  @Tag("smoke")
  @ParameterizedTest
  @CsvSource({"rocev2, IbverbsVerbsContractOnRoceV2", "iwarp, IbverbsVerbsContractOnIwarp"})
  void shouldKeepTheContract(String transport, String tests) throws Exception {
    GuestTests.run(guest(transport, 540), GuestTests.classPath(), List.of(), ENGINE + tests);
  }

  @Test
  @Tag("nightly")
  void shouldDistinguishTwoDevices() throws Exception {
    GuestTests.run(guest("both", 540), GuestTests.classPath(), List.of(), ENGINE + "TwoDevices");
  }

  @Test
  @Tag("nightly")
  void shouldNameTheRequiredLimitOfLockedMemory() throws Exception {
    GuestTests.run(
        guest("rocev2", 540).with("--user", "nobody").with("--ulimit-memlock", "8192"),
        readableByAll(GuestTests.classPath()),
        List.of(),
        ENGINE + "MemlockOnRoceV2");
  }

  /** Strangers and readers that misbehave; short READs that soft iWARP answers with wrong bytes. */
  @ParameterizedTest
  @CsvSource({"rocev2, HostilePeerTest", "iwarp, ShortBlocksTest"})
  void shouldLoseNothing(String transport, String tests) throws Exception {
    runOfPlugin(transport, 240, tests);
  }

  /**
   * Tests of features that siw lacks are skipped, see allowed-skips.txt. Servers on RoCE only: a
   * server of that test sends as soon as it has accepted, and siw may lose such a message for as
   * long as no other follows (docs/dev/testing.md).
   */
  @Tag("nightly")
  @ParameterizedTest
  @CsvSource({"iwarp, HostilePeerTest", "rocev2, HostileServerTest"})
  void shouldLoseNothingToOthersThatMisbehave(String transport, String tests) throws Exception {
    runOfPlugin(transport, 240, tests);
  }

  /**
   * Tasks that post while processes of servers are killed, for ten minutes, or as many seconds as
   * {@code -Dstress.seconds} says.
   */
  @Tag("nightly")
  @ParameterizedTest
  @ValueSource(strings = {"rocev2", "iwarp"})
  void shouldReadNoWrongByteAndKeepNothingOfServersThatAreKilled(String transport)
      throws Exception {
    runOfPlugin(
        transport, SECONDS + REST_SECONDS, "KilledServersTest", "-Dstress.seconds=" + SECONDS);
  }

  private static void runOfPlugin(
      String transport, long limitSeconds, String tests, String... options) throws Exception {
    GuestTests.run(
        guest(transport, limitSeconds),
        GuestTests.classPathOfPlugin(),
        Stream.concat(Stream.of("-Dtest.engine=ibverbs"), Stream.of(options)).toList(),
        TRANSPORT + tests);
  }

  private static Guest guest(String transport, long limitSeconds) {
    return GuestTests.guest(transport, Duration.ofSeconds(limitSeconds));
  }

  /** Copies the class path for a user without access to the builder's home. */
  private String readableByAll(String classPath) throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    List<String> copied = new ArrayList<>();
    for (String entry : classPath.split(":", -1)) {
      Path from = Path.of(entry);
      Path to = directory.resolve(copied.size() + "-" + from.getFileName());
      try (Stream<Path> files = Files.walk(from)) {
        for (Path file : (Iterable<Path>) files::iterator) {
          Files.copy(file, to.resolve(from.relativize(file).toString()));
        }
      }
      copied.add(to.toString());
    }
    return String.join(":", copied);
  }
}
