// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.sparkrdma.shuffle.address.DeviceChoice;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.ibverbs.ScriptedHost;

/**
 * A test of executors on scripted hosts, one on each, with the addresses that the choice of the
 * device finds there.
 */
abstract class ScriptedHosts extends ScriptedExecutors {
  /** A block that each executor has. */
  static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));

  /** Before the executors are closed. */
  @AfterEach
  void leaveIdleAgents() throws InterruptedException {
    assertAgentsIdle();
  }

  /** A host with its own address on Ethernet. */
  final ScriptedHost host(int number) throws Exception {
    return new ScriptedHost(newFolder("host-" + number))
        .withDeviceFiles()
        .withLink("eth0", "02:00:00:00:00:0" + number, hostAddress(number));
  }

  private static String hostAddress(int number) {
    return "192.0.2." + number;
  }

  /**
   * The choice of the device.
   *
   * @param number of the host
   * @param engine on that host
   * @param allowed the setting listen.address
   * @param prefixLength of all subnets
   */
  static DeviceChoice choose(
      int number, VerbsEngine engine, Optional<String> allowed, int prefixLength) throws Exception {
    return DeviceChoice.all(
            engine.devices(),
            new DeviceSelector(
                List.of(),
                OptionalInt.empty(),
                allowed,
                InetAddress.getByName(hostAddress(number)),
                false,
                false,
                0),
            address -> new NetworkAddress(address, prefixLength))
        .get(0);
  }

  /** Starts an executor that has {@link #BLOCKS}. */
  final TestExecutor startWithBlocks(
      int number,
      VerbsEngine engine,
      List<NetworkAddress> addresses,
      UnaryOperator<TestExecutor.Options> with)
      throws Exception {
    TestExecutor executor =
        start(number, engine, options -> with.apply(options.addresses(addresses)));
    executor.outputs().write(1, new Random(number), 1000);
    return executor;
  }

  /** The addresses of an executor in the directory. */
  static List<String> published(TestExecutor executor) {
    return executor.endpoint().addresses().stream()
        .map(ListenerAddress::network)
        .map(NetworkAddress::toString)
        .toList();
  }
}
