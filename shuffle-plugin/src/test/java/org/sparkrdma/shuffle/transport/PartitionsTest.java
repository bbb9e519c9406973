// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.file.Files;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.address.DeviceChoice;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.ibverbs.ScriptedHost;

/**
 * The InfiniBand port of each executor has two IPoIB interfaces, one for each of two partitions. A
 * partition key belongs to an interface, and so to its addresses.
 */
class PartitionsTest extends ScriptedExecutors {
  private static final byte[] GID = HexFormat.of().parseHex("fe80000000000000506b4b0300a1b2c3");
  private static final String DEFAULT_PARTITION = "10.1.0.0/16";
  private static final String PARTITION_8001 = "10.2.0.0/16";

  /** A block that each executor has. */
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));

  @BeforeEach
  void scriptPartitions() {
    library.limit("infiniband", 1);
    library.limit("partition_bits", 16);
  }

  /**
   * Starts an executor as on a host of its own, with the addresses that the device's choice finds.
   *
   * @param allowed the setting listen.address
   */
  private TestExecutor executor(int number, Optional<String> allowed) throws Exception {
    String gid = HexFormat.ofDelimiter(":").formatHex(GID);
    String onEthernet = "192.0.2." + number;
    VerbsEngine engine =
        new ScriptedHost(Files.createDirectory(directory.resolve("host-" + number)))
            .withDeviceFiles()
            .withLink("eth0", "02:00:00:00:00:0" + number, onEthernet)
            .withGid(GID, "")
            .withLink("ib0", "80:00:02:08:" + gid, "10.1.0." + number)
            .withLink("ib0.8001", "80:00:0a:10:" + gid, "10.2.0." + number)
            .engine(library);
    DeviceSelector selector =
        new DeviceSelector(
            List.of(),
            OptionalInt.empty(),
            allowed,
            InetAddress.getByName(onEthernet),
            false,
            false,
            0);
    List<NetworkAddress> addresses =
        DeviceChoice.all(engine.devices(), selector, address -> new NetworkAddress(address, 16))
            .get(0)
            .addresses();
    TestExecutor executor =
        start(
            number,
            engine,
            options -> options.addresses(addresses).connectTimeout(Duration.ofSeconds(1)));
    executor.outputs().write(1, new Random(number), 1000);
    return executor;
  }

  @ParameterizedTest(name = "a port has interfaces in two partitions, its peer listens in [{0}]")
  @CsvSource({
    "'', 10.1.0.7/16 10.2.0.7/16",
    DEFAULT_PARTITION + ", 10.1.0.7/16",
    PARTITION_8001 + ", 10.2.0.7/16"
  })
  void shouldConnectInAPartitionInWhichThePeerListens(String allowed, String published)
      throws Exception {
    TestExecutor reader = executor(5, Optional.empty());
    TestExecutor server = executor(7, Optional.of(allowed).filter(text -> !text.isEmpty()));

    assertThat(String.join(" ", published(server))).isEqualTo(published);
    assertThat(fetch(reader, server, BLOCKS).reasons()).isEmpty();
    assertThat(library.hits()).as("attempts between partitions").isZero();
  }

  /**
   * With an answer of the neighbour, which comes from another interface of its host, the host
   * rejects the request.
   */
  @ParameterizedTest(
      name = "two executors have no partition in common, and a neighbour''s answer is {0}")
  @ValueSource(strings = {"missing", "of another interface"})
  void shouldGiveUpAPeerOfAnotherPartition(String answer) throws Exception {
    library.limit("foreign_answers", answer.equals("missing") ? 0 : 1);
    TestExecutor reader = executor(5, Optional.of(DEFAULT_PARTITION));
    TestExecutor server = executor(7, Optional.of(PARTITION_8001));
    long startNs = System.nanoTime();

    CollectedBlocks blocks = fetch(reader, server, BLOCKS);

    assertThat(blocks.reasons()).isEqualTo(Map.of("connect-failed", 1L));
    assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(Duration.ofSeconds(10));
    assertThat(library.hits()).as("attempts between partitions").isPositive();
    assertThat(reader.losses()).isEmpty();
  }

  /** Before the executors are closed. */
  @AfterEach
  void leaveIdleAgents() throws InterruptedException {
    assertAgentsIdle();
  }

  /** The addresses of an executor in the directory. */
  private static List<String> published(TestExecutor executor) {
    return executor.endpoint().addresses().stream()
        .map(ListenerAddress::network)
        .map(NetworkAddress::toString)
        .toList();
  }
}
