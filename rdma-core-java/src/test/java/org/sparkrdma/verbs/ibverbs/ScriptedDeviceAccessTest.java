// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.TransportType;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/**
 * Drivers that do not change the access of connected queue pairs as they say, and READs of no
 * bytes.
 */
class ScriptedDeviceAccessTest extends ScriptedDeviceFixture {
  private static final int EIO = 5;
  private static final int EINVAL = 22;
  private static final int EOPNOTSUPP = 95;

  /** A driver's modify call returns 0 for it and changes nothing. */
  @ParameterizedTest(name = "a RoCE driver ({0}) keeps remote access that is removed")
  @CsvSource({"irdma, 0x8086", "bnxt_re, 0x14e4", "ocrdma, 0x10df"})
  void shouldNotClaimToChangeAccessOnADeviceThatKeepsIt(String driver, int vendor)
      throws Exception {
    library.limit("vendor", vendor);

    ScriptedExchange exchange = open();
    assertThat(exchange.device.info().transport()).isEqualTo(TransportType.INFINIBAND);
    assertThat(exchange.device.info().can(Capability.QUEUE_PAIR_ACCESS)).isFalse();
    long before = library.calls("ibv_modify_qp");
    exchange.connect();

    assertThatThrownBy(() -> exchange.queuePair().setRemoteAccess(Set.of()))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("device=scripted0");

    assertThat(library.calls("ibv_modify_qp")).isEqualTo(before);
    exchange.transfer();
  }

  /** It can be tried by ./card, and is used on a trusted fabric. */
  @ParameterizedTest(name = "the driver ({0}) was never seen to withhold access")
  @CsvSource({"hns, 0x19e5", "qedr, 0x1077"})
  void shouldChangeAccessOnADeviceThatIsNotSeenToWithholdIt(String driver, int vendor)
      throws Exception {
    library.limit("vendor", vendor);

    ScriptedExchange exchange = open();
    assertAccessIsNotTrusted(exchange);
    exchange.run();
  }

  /** So it is trusted only where a READ was seen to be refused. */
  @ParameterizedTest(name = "a driver that is not known keeps all access, and a query {0}")
  @ValueSource(strings = {"fails", "echoes what was asked for"})
  void shouldNotTrustADriverWhoseAccessNoQueryShows(String query) throws Exception {
    library.limit("vendor", 0x19e5);
    library.limit("kept_access", 1);
    if (query.equals("fails")) {
      library.fail("ibv_query_qp", EIO, 1, ScriptedLibrary.FOR_EVER);
    } else {
      library.limit("echoed_access", 1);
    }
    ScriptedExchange exchange = open();
    exchange.remoteAccess = Set.of();
    exchange.connect();

    exchange.transfer();

    assertAccessIsNotTrusted(exchange);
  }

  private static void assertAccessIsNotTrusted(ScriptedExchange exchange) {
    assertThat(exchange.device.info().capabilities())
        .contains(Capability.QUEUE_PAIR_ACCESS)
        .doesNotContain(Capability.WITHHOLDS_ACCESS);
  }

  @ParameterizedTest(name = "the firmware of a card of {0} reports a vendor id of its own")
  @CsvSource({"HP, 0x1708, mlx4_core", "Bull, 0x119f, mlx5_core"})
  void shouldTrustACardOfAnotherBrandByItsDriver(
      String brand, int vendor, String driver, @TempDir Path root) throws Exception {
    library.limit("vendor", vendor);

    ScriptedHost host = new ScriptedHost(root).withDeviceFiles().withDriver(driver);
    try (VerbsEngine branded = host.engine(library)) {
      assertThat(branded.devices())
          .singleElement()
          .satisfies(device -> assertThat(device.can(Capability.WITHHOLDS_ACCESS)).isTrue());
    }
  }

  /** Such a READ tests a silent peer. */
  @ParameterizedTest(name = "a driver ({0}) reads into the first element of a READ of no bytes")
  @CsvSource({"irdma, 0x8086", "erdma, 0x1ded"})
  void shouldReadNoBytesAfterAReadOfSome(String driver, int vendor) throws Exception {
    library.limit("vendor", vendor);
    ScriptedExchange exchange = connect();
    exchange.transfer();

    exchange.readNoBytes();

    exchange.transfer();
  }

  /** The driver hns of Linux 5.8 does this. */
  @ParameterizedTest(name = "the driver refuses to change access with errno {0}")
  @ValueSource(ints = {EINVAL, EOPNOTSUPP})
  void shouldReportADeviceThatRefusesToChangeAccessOnce(int errno) throws Exception {
    library.fail("ibv_modify_qp", errno, 1, ScriptedLibrary.FOR_EVER);
    assertReportedOnce(Set.of(AccessFlag.REMOTE_READ), "failed: errno=" + errno + " (");
  }

  @Test
  void shouldReportADeviceThatKeepsAccessOnce() throws Exception {
    library.limit("kept_access", 1);
    assertReportedOnce(Set.of(), "has no effect: access=[] keptBits=4");
  }

  private void assertReportedOnce(Set<AccessFlag> access, String failure) throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.remoteAccess = access;
      assertThatThrownBy(exchange::connect).hasMessageContaining("ibv_modify_qp " + failure);
      assertThat(exchange.expect(ConnectionEvent.Type.DEVICE_DOWN).reason())
          .startsWith("the driver does not change the access of connected queue pairs")
          .contains(": device=scripted0: ibv_modify_qp " + failure);
      exchange.expect(ConnectionEvent.Type.CONNECT_ERROR);
      exchange.expectNoEvent();
    }
    assertThat(listed().capabilities())
        .doesNotContain(Capability.QUEUE_PAIR_ACCESS, Capability.WITHHOLDS_ACCESS);
  }

  /** A query is a system call, so it is not repeated for each connection. */
  @Test
  void shouldAskOnceWhetherAccessWasRemoved() throws Exception {
    faulty = false;
    long before = library.calls("ibv_query_qp");
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.run();
    }
    assertThat(library.calls("ibv_query_qp") - before).isEqualTo(1);
  }

  @Test
  void shouldCheckTheNextChangeOfAccessWhenTheFirstCouldNotBeQueried() throws Exception {
    library.limit("kept_access", 1);
    library.fail("ibv_query_qp", EIO, 1, 1);
    long before = library.calls("ibv_query_qp");
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.remoteAccess = Set.of();
      // At one end the query fails, and at the other it finds what was kept.
      assertThatThrownBy(exchange::connect)
          .hasMessageContaining("ibv_modify_qp has no effect: access=[] keptBits=4");
      assertThat(library.calls("ibv_query_qp") - before).isEqualTo(2);
    }
  }

  @Test
  void shouldNotReportTheDriverWhenTheConnectionHasEnded() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();
      exchange.responder().disconnect();
      library.fail("ibv_modify_qp", EINVAL, 1, 1);

      assertThatThrownBy(() -> exchange.queuePair().setRemoteAccess(Set.of()))
          .hasMessageContaining("ibv_modify_qp failed: errno=22 (");

      exchange.expect(ConnectionEvent.Type.DISCONNECTED);
      exchange.expect(ConnectionEvent.Type.DISCONNECTED);
      exchange.expectNoEvent();
    }
    assertThat(listed().capabilities()).contains(Capability.WITHHOLDS_ACCESS);
  }
}
