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

/**
 * The verbs contract over the ibverbs engine of the plug-in's jar, on the guest's devices. Of every
 * day on the newer Java only; on the other one {@link CardIT} runs it on RoCE v2.
 */
@Tag("nightly")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(600)
final class ContractIT {
  private static final String ENGINE = "org.sparkrdma.verbs.ibverbs.";

  @TempDir private Path directory;

  @Tag("smoke")
  @ParameterizedTest
  @CsvSource({"rocev2, IbverbsVerbsContractOnRoceV2", "iwarp, IbverbsVerbsContractOnIwarp"})
  void shouldKeepTheContract(String transport, String tests) throws Exception {
    run(guest(transport), tests, GuestTests.classPath());
  }

  @Test
  void shouldDistinguishTwoDevices() throws Exception {
    run(guest("both"), "TwoDevices", GuestTests.classPath());
  }

  @Test
  void shouldNameTheRequiredLimitOfLockedMemory() throws Exception {
    run(
        guest("rocev2").with("--user", "nobody").with("--ulimit-memlock", "8192"),
        "MemlockOnRoceV2",
        readableByAll(GuestTests.classPath()));
  }

  private static void run(Guest guest, String tests, String classPath)
      throws IOException, InterruptedException {
    GuestTests.run(guest, classPath, List.of(), ENGINE + tests);
  }

  private static Guest guest(String transport) {
    return GuestTests.guest(transport, Duration.ofMinutes(9));
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
