// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.address.AddressPair;
import org.sparkrdma.shuffle.tools.doctor.Finding;
import org.sparkrdma.shuffle.tools.engines.OpenDevice;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Transport;

/**
 * Reaches one peer by TCP and by RDMA, and measures a few READs. Confined to the calling thread.
 */
public final class PeerCheck {
  /** TCP port of {@code doctor --listen} where none is given. */
  public static final int DEFAULT_PORT = 7474;

  private static final int LIMIT_MS = 3_000;
  private static final int SMALL_BYTES = 8;
  private static final int SMALL_READS = 200;
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int READS_AT_ONCE = 16;
  private static final long MEASURE_NS = TimeUnit.MILLISECONDS.toNanos(200);

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

  /**
   * @param limitMs time for the TCP connection, and then for the whole line of the listener
   */
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
  public List<Finding> run(OpenDevice own) {
    try {
      Announcement peer = announcement();
      if (!peer.engine().equals(own.device().info().engine())) {
        findings.add(
            Finding.problem(
                "Peer "
                    + host
                    + " uses engine "
                    + peer.engine()
                    + ", this host "
                    + own.device().info().engine()
                    + "; blocks between them use TCP.",
                "use the same engine on all hosts: spark.shuffle.rdma.engine"));
      } else {
        compareMtu(own, peer);
        read(own, peer, AddressPair.of(own.choice().addresses(), peer.addresses()));
      }
    } catch (IOException e) {
      findings.add(notReached(e));
    } catch (VerbsException e) {
      findings.add(
          Finding.problem(
              "Peer " + host + " is not reached by RDMA: " + e.getMessage() + ".",
              "give the ports of all hosts an IP address, or of none"));
    }
    return List.copyOf(findings);
  }

  /** Runs once, on a host where an executor would use no device: tests TCP only. */
  public List<Finding> runWithoutDevice() {
    try {
      announcement();
    } catch (IOException e) {
      findings.add(notReached(e));
    }
    findings.add(
        Finding.note(
            "RDMA to " + host + " was not tested, because an executor would use no device here.",
            "solve the problems under engine, then run this again"));
    return List.copyOf(findings);
  }

  private Finding notReached(IOException e) {
    if (e instanceof UnknownHostException) {
      return Finding.problem(
          "Peer " + host + " is an unknown host: its name has no address here.",
          "correct the name, or give the address of the peer");
    }
    if (e instanceof NoListenerException) {
      return Finding.problem(
          String.format(Locale.ROOT, "Peer %s port %d %s.", host, port, e.getMessage()),
          "start there, with the same jar as here: "
              + listen()
              + "; if it uses another port, give --peer HOST:PORT");
    }
    return Finding.problem(
        String.format(
            Locale.ROOT, "Peer %s port %d is not reached by TCP: %s.", host, port, e.getMessage()),
        "start there: " + listen() + ", and let a firewall pass that port");
  }

  private String listen() {
    return "java -jar shuffle-plugin.jar doctor --listen"
        + (port == DEFAULT_PORT ? "" : " " + port);
  }

  private Announcement announcement() throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host, port), limitMs);
      socket.setSoTimeout(limitMs);
      Announcement announcement = Announcement.receive(socket);
      findings.add(Finding.ok("Peer " + host + " answers by TCP."));
      return announcement;
    }
  }

  /** Ports with different MTUs may reach each other, but drop large packets. */
  private void compareMtu(OpenDevice own, Announcement peer) {
    if (!isIwarp(own) && own.mtuBytes() != peer.mtuBytes()) {
      findings.add(
          Finding.warning(
              String.format(
                  Locale.ROOT,
                  "The port here has a path MTU of %d bytes, that of %s %d.",
                  own.mtuBytes(),
                  host,
                  peer.mtuBytes()),
              "set the same MTU on all hosts and switches"));
    }
  }

  /**
   * @param connected path MTU of the connection, where the engine knows it
   */
  private static Finding pathMtu(
      OpenDevice own, Announcement peer, AddressPair pair, OptionalInt connected) {
    int bytes = connected.orElse(Math.min(own.mtuBytes(), peer.mtuBytes()));
    int most = Math.min(own.maxMtuBytes(), peer.maxMtuBytes());
    return bytes < most
        ? Finding.note(
            String.format(
                Locale.ROOT,
                "The path MTU %s is %d bytes, but both ports could use %d: data takes more packets.",
                pair,
                bytes,
                most),
            "on Ethernet set an MTU of at least 4200 on the interfaces of both hosts and on all"
                + " switches: ip link set INTERFACE mtu 9000; on InfiniBand raise the MTU of the"
                + " partition in the subnet manager")
        : Finding.ok(
            String.format(
                Locale.ROOT,
                "The path MTU %s is %d bytes, the maximum of both ports.",
                pair,
                bytes));
  }

  /** Its packets are those of TCP. */
  private static boolean isIwarp(OpenDevice own) {
    return own.device().info().transport() == Transport.IWARP;
  }

  private void read(OpenDevice own, Announcement peer, AddressPair pair) throws IOException {
    try (ReadMeter meter = new ReadMeter(own.device())) {
      meter.connect(pair);
      if (!isIwarp(own)) {
        findings.add(pathMtu(own, peer, pair, meter.pathMtuBytes()));
      }
      long latencyNs = meter.latenciesNs(SMALL_BYTES, SMALL_READS)[SMALL_READS / 2];
      double speed = meter.speed(BLOCK_BYTES, READS_AT_ONCE, MEASURE_NS).bytesPerSecond();
      findings.add(
          Finding.ok(
              String.format(
                  Locale.ROOT,
                  "RDMA %s: a READ of 8 bytes takes %.1f us, READs of 64 KiB bring %.0f MiB/s.",
                  pair,
                  latencyNs / 1e3,
                  speed / (1 << 20))));
    } catch (VerbsException e) {
      findings.add(
          Finding.problem(
              "Peer " + host + " is not reached by RDMA " + pair + ": " + e.getMessage() + ".",
              "with RoCE v2 let a firewall pass UDP port 4791, with iWARP all TCP ports; check"
                  + " that both devices are in one network (VLAN, partition) and can ping each other"));
    }
  }
}
