// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Map;
import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.soft.shared.HostIdentity;

/** The soft engine for the contract suite, in a separate directory. */
final class SoftUnderTest {
  /** The suite allocates one block of more than 2 GiB. */
  private static final long ROOM_BYTES = 4L << 30;

  private static final Path SHARED = base().resolve("sparkrdma-contract-" + pid());

  static final EngineUnderTest ENGINE = create();

  private SoftUnderTest() {}

  /** Shared memory, or an ordinary directory in a small container. */
  private static Path base() {
    Path shared = Path.of("/dev/shm");
    return shared.toFile().getUsableSpace() >= ROOM_BYTES
        ? shared
        : Path.of(System.getProperty("java.io.tmpdir"));
  }

  private static long pid() {
    return ProcessHandle.current().pid();
  }

  private static EngineUnderTest create() {
    try {
      java.nio.file.Files.createDirectories(SHARED);
      Runtime.getRuntime().addShutdownHook(new Thread(SoftUnderTest::remove));
      Path own = SHARED.resolve("sparkrdma-soft-" + HostIdentity.self().userId());
      return new EngineUnderTest(
          "soft",
          Map.of("soft.directory", SHARED.toString()),
          InetAddress.getLoopbackAddress(),
          InetAddress.getByName("::1"),
          own,
          Map.of("soft.faults", "delay@1:1s"),
          1,
          Deviation.OF_SOFT);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static void remove() {
    try (var files = java.nio.file.Files.walk(SHARED)) {
      files.sorted(java.util.Comparator.reverseOrder()).forEach(p -> p.toFile().delete());
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
