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

/** The example programs of docs/verbs.md, each with its two ends on two kernels. */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(300)
final class ExamplesIT {
  private static final int FILE_BYTES = (5 << 20) / 2 + 7;
  private static final long SEED = 7;

  /**
   * Node 2 runs each server, and node 1 its client when the server listens. An example whose client
   * has not ended well ends the run; but PingPong on siw is started up to three times, because siw
   * may not receive the first message of a connection until another follows (docs/dev/testing.md).
   */
  private static final String TWO_NODES =
      """
      attempts=1
      example() {
        local name=$1 port=$2 server=$3 client=$4 attempt log
        for ((attempt = 1; attempt <= attempts; attempt++)); do
          log=$GUEST_SHARE/$name.$attempt
          if ((GUEST_NODE == 2)); then
            $JAVA org.sparkrdma.examples.$name server ibverbs $GUEST_ADDRESS:$port $server | while read -r line; do
              echo "$name server: $line"
              if [[ $line == listening* ]]; then echo yes >$log.listens; fi
            done
            ((PIPESTATUS[0] != 0)) || return 0
          else
            until [[ -s $log.listens ]]; do sleep 0.05; done
            if $JAVA org.sparkrdma.examples.$name client ibverbs $GUEST_PEER_ADDRESS:$port $client >$log.out; then
              echo "$name client: $(<$log.out)"
              return 0
            fi
          fi
          echo "$name: attempt $attempt of $attempts failed"
        done
        exit 1
      }
      if [[ $1 == iwarp ]]; then
        attempts=3
      fi
      example PingPong 7471 "" ""
      attempts=1
      example ReadFile 7472 $GUEST_SHARE/FILE $GUEST_SHARE/COPY
      if [[ $1 == rocev2 ]]; then
        example WriteWithImmediate 7473 "" hello
      fi
      """;

  @TempDir private Path shared;

  @ParameterizedTest
  @ValueSource(strings = {"rocev2", "iwarp"})
  void shouldRunEachExampleBetweenTwoKernels(String transport)
      throws IOException, InterruptedException {
    byte[] content = new byte[FILE_BYTES];
    new Random(SEED).nextBytes(content);
    Files.write(shared.resolve("FILE"), content);
    String java = GuestJava.command(GuestJdk.START_SOON, Build.property("it.benchmarks.jar"));

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
    assertThat(client)
        .contains("PingPong client: round trip of 1000 pings, median us: ")
        .contains("ReadFile client: read bytes: " + FILE_BYTES);
    assertThat(server)
        .contains("PingPong server: answered 1000 pings")
        .contains("ReadFile server: served " + FILE_BYTES + " bytes");
    assertThat(shared.resolve("COPY")).hasBinaryContent(content);
    if (transport.equals("rocev2")) {
      // iWARP has no WRITE with immediate.
      assertThat(client).contains("WriteWithImmediate client: wrote bytes: 5");
      assertThat(server).contains("WriteWithImmediate server: received: hello");
    }
    client.lines().forEach(line -> System.out.println(transport + ": " + line));
  }
}
