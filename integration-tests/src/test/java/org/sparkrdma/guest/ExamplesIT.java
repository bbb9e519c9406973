// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The example program of docs/verbs.md, with its two ends on two kernels. */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(300)
final class ExamplesIT {
  private static final int FILE_BYTES = (5 << 20) / 2 + 7;
  private static final long SEED = 7;

  /** Node 2 runs the server, and node 1 the client when the server listens. */
  private static final String TWO_NODES =
      """
      if ((GUEST_NODE == 2)); then
        $JAVA org.sparkrdma.examples.ReadFile server ibverbs $GUEST_ADDRESS:7472 $GUEST_SHARE/FILE | while read -r line; do
          echo "ReadFile server: $line"
          if [[ $line == listening* ]]; then echo yes >$GUEST_SHARE/listens; fi
        done
        exit ${PIPESTATUS[0]}
      fi
      until [[ -s $GUEST_SHARE/listens ]]; do sleep 0.05; done
      $JAVA org.sparkrdma.examples.ReadFile client ibverbs $GUEST_PEER_ADDRESS:7472 $GUEST_SHARE/COPY >$GUEST_SHARE/out || exit 1
      echo "ReadFile client: $(<$GUEST_SHARE/out)"
      """;

  @TempDir private Path shared;

  @ParameterizedTest
  @ValueSource(strings = {"rocev2", "iwarp"})
  void shouldRunTheExampleBetweenTwoKernels(String transport)
      throws IOException, InterruptedException {
    byte[] content = new byte[FILE_BYTES];
    new Random(SEED).nextBytes(content);
    Files.write(shared.resolve("FILE"), content);
    String java = GuestTests.java(GuestTests.classPath());

    GuestResult result =
        Guest.nodes(2)
            .memory("512M")
            .timeout(Duration.ofMinutes(4))
            .with("--transport", transport)
            .with("--share", shared.toString())
            .run("bash", "-c", TWO_NODES.replace("$JAVA", java), "examples", transport);

    assertThat(result.exitCode()).as(result.output()).isZero();
    String client = String.join("\n", result.node(1).lines());
    String server = String.join("\n", result.node(2).lines());
    assertThat(client).contains("ReadFile client: read bytes: " + FILE_BYTES);
    assertThat(server).contains("ReadFile server: served " + FILE_BYTES + " bytes");
    assertThat(shared.resolve("COPY")).hasBinaryContent(content);
    client.lines().forEach(line -> System.out.println(transport + ": " + line));
  }
}
