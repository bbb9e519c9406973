// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.address.AddressPair;
import org.sparkrdma.shuffle.tools.doctor.Finding;
import org.sparkrdma.shuffle.tools.engines.ProbedDevice;
import org.sparkrdma.verbs.VerbsException;

/**
 * Reaches one peer by TCP and by RDMA, and measures a few READs. Confined to the calling thread.
 */
public final class PeerCheck {
  private static final int LIMIT_MS = 3_000;
  private static final int SMALL_BYTES = 8;
  private static final int SMALL_READS = 200;
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int READS_AT_ONCE = 16;
  private static final long MEASURE_NS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final String START_THERE =
      "start there, with the same jar: java -jar spark-rdma-shuffle.jar doctor --listen, and let a"
          + " firewall pass its port";

  private final String host;
  private final int port;
  private final int limitMs;
  private final List<Finding> findings = new ArrayList<>();

  /**
   * A check that has not run.
   *
   * @param port TCP port of the other side's {@code doctor --listen}
   */
  public PeerCheck(String host, int port) {
    this(host, port, LIMIT_MS);
  }

  PeerCheck(String host, int port, int limitMs) {
    this.host = host;
    this.port = port;
    this.limitMs = limitMs;
  }

  /**
   * Runs once.
   *
   * @param own the device of this host
   */
  public List<Finding> run(ProbedDevice own) {
    Optional<Announcement> announcement = reachByTcp();
    if (announcement.isPresent()) {
      Announcement peer = announcement.get();
      String engine = own.device().info().engine();
      if (!peer.engine().equals(engine)) {
        findings.add(
            Finding.problem(
                "Peer "
                    + host
                    + " uses engine "
                    + peer.engine()
                    + ", this host "
                    + engine
                    + "; blocks between them use TCP.",
                "use the same engine on all hosts: spark.shuffle.rdma.engine"));
      } else {
        read(own, peer);
      }
    }
    return List.copyOf(findings);
  }

  /** Runs once, on a host where an executor would use no device: tests TCP only. */
  public List<Finding> runWithoutDevice() {
    reachByTcp();
    findings.add(
        Finding.note(
            "RDMA to " + host + " was not tested, because an executor would use no device here.",
            "solve the problems under engine, then run this again"));
    return List.copyOf(findings);
  }

  private Optional<Announcement> reachByTcp() {
    try {
      Announcement.Connected connected = Announcement.connect(host, port, limitMs);
      connected.socket().close();
      findings.add(Finding.ok("Peer " + host + " answers by TCP."));
      return Optional.of(connected.announcement());
    } catch (IOException e) {
      findings.add(Finding.problem("Peer " + host + " " + e.getMessage() + ".", START_THERE));
      return Optional.empty();
    }
  }

  private void read(ProbedDevice own, Announcement peer) {
    String pair = "";
    try (ReadMeter meter = new ReadMeter(own.device())) {
      AddressPair addresses = AddressPair.of(own.choice().addresses(), peer.addresses());
      pair = " " + addresses;
      meter.connect(addresses);
      long latencyNs = meter.latenciesNs(SMALL_BYTES, SMALL_READS)[SMALL_READS / 2];
      double speed = meter.speed(BLOCK_BYTES, READS_AT_ONCE, MEASURE_NS).bytesPerSecond();
      findings.add(
          Finding.ok(
              String.format(
                  Locale.ROOT,
                  "RDMA%s: a READ of 8 bytes takes %.1f us, READs of 64 KiB bring %.0f MiB/s.",
                  pair,
                  latencyNs / 1e3,
                  speed / (1 << 20))));
    } catch (IOException | VerbsException e) {
      findings.add(
          Finding.problem(
              "Peer " + host + " is not reached by RDMA" + pair + ": " + e.getMessage() + ".",
              "give both ports an IP address, or none; with RoCE v2 let a firewall pass UDP port"
                  + " 4791, with iWARP all TCP ports; check that both devices are in one network"
                  + " (VLAN, partition), can ping each other, and that all ports and switches have"
                  + " the same MTU"));
    }
  }
}
