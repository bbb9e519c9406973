// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The options {@code --peer} and {@code --listen} of the command {@code doctor}. */
class PeerOptionsTest extends CommandsFixture {
  @Test
  void shouldNameAPeerThatIsNotReachedAsTheReason() {
    assertThat(run("doctor", "--conf", soft, "--host", "127.0.0.1", "--peer", "127.0.0.1:1"))
        .isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString())
        .startsWith("RDMA will not be used: Peer 127.0.0.1 port 1 is not reached by TCP: ")
        .contains("To do: start there: java -jar shuffle-plugin.jar doctor --listen 1, and let");
  }

  @Test
  void shouldReportAPeerWhereNoDeviceOpens() throws IOException {
    String none = settings("spark.shuffle.rdma.engine soft\nspark.shuffle.rdma.device none\n");
    String notTested =
        """
         was not tested, because an executor would use no device here.
                 To do: solve the problems under engine, then run this again
        """;
    assertThat(run("doctor", "-v", "--conf", none, "--peer", "127.0.0.1:1"))
        .isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString())
        .contains(
            "\npeer\nproblem  Peer 127.0.0.1 port 1 is not reached by TCP: Connection refused")
        .contains("note     RDMA to 127.0.0.1" + notTested);
    assertThat(output.toString().lines().findFirst().orElseThrow())
        .contains("none does not exist")
        .endsWith("; Peer 127.0.0.1 port 1 is not reached by TCP: Connection refused");
    output.getBuffer().setLength(0);
    assertThat(run("doctor", "-v", "--conf", none, "--peer", "no.such.host.invalid"))
        .isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString())
        .contains(
            "\nproblem  Peer no.such.host.invalid is an unknown host: its name has no address")
        .contains("To do: correct the name, or give the address of the peer")
        .contains("note     RDMA to no.such.host.invalid" + notTested);
  }

  @Test
  void shouldPrintOneLineOfJsonWhenItListens() throws IOException {
    String[] listen = {"doctor", "--json", "--host=127.0.0.1", "--listen=0", "--listen-for=1"};
    assertThat(run(with(listen, "--conf", soft))).isZero();
    assertThat(output.toString())
        .hasLineCount(1)
        .startsWith("{\"schema\": 1, \"usable\": true, \"port\": ");
    JsonNode line = new ObjectMapper().readTree(output.toString());
    assertThat(line.path("schema").asInt()).isEqualTo(1);
    assertThat(line.path("usable").asBoolean()).isTrue();
    assertThat(line.path("port").asInt()).isPositive();
    assertThat(line.path("addresses").get(0).asText()).startsWith("127.0.0.1/8:");

    output.getBuffer().setLength(0);
    String none = settings("spark.shuffle.rdma.engine soft\nspark.shuffle.rdma.device none\n");
    assertThat(run(with(listen, "--conf", none))).isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString()).hasLineCount(1);
    JsonNode refusal = new ObjectMapper().readTree(output.toString());
    assertThat(refusal.path("usable").asBoolean(true)).isFalse();
    assertThat(refusal.path("summary").asText()).contains("none does not exist");
  }

  private static String[] with(String[] arguments, String... more) {
    return Stream.of(arguments, more).flatMap(Stream::of).toArray(String[]::new);
  }

  @Test
  void shouldListenForTheTimeGiven() {
    assertThat(
            run("doctor", "--conf", soft, "--host=127.0.0.1", "--listen", "0", "--listen-for", "1"))
        .isZero();
    assertThat(output.toString())
        .startsWith("Listening at TCP port ")
        .contains("[127.0.0.1/8:")
        .contains(
            ", for 1 s. On another host: java -jar shuffle-plugin.jar doctor --peer 127.0.0.1:");
  }
}
