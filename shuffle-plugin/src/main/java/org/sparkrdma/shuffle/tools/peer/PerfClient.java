// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.address.AddressPair;
import org.sparkrdma.shuffle.tools.engines.OpenDevice;
import org.sparkrdma.verbs.VerbsException;

/**
 * Measures READ and TCP between this host and one where {@code perf server} runs. Confined to the
 * calling thread; its creator closes it.
 */
public final class PerfClient implements AutoCloseable {
  private static final int LIMIT_MS = 3_000;
  private static final int SINGLE_TRANSFERS = 500;
  private static final int WARM_UP_TRANSFERS = 200;
  private static final int P99 = 99;
  private static final double GIB = 1L << 30;

  private final TcpMeter tcp;
  private final ReadMeter read;
  private final AddressPair pair;

  /**
   * Figures of one size.
   *
   * @param lengthBytes of each transfer
   */
  public record Row(int lengthBytes, Measurement read, Measurement tcp) {}

  /**
   * Connects by TCP and by RDMA.
   *
   * @param own the device of this host; closed by the caller, after this
   * @throws NoListenerException when another program answers at that port
   * @throws IOException when TCP does not reach the peer
   * @throws VerbsException when RDMA does not reach it
   */
  public PerfClient(OpenDevice own, String host, int port) throws IOException, VerbsException {
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(host, port), LIMIT_MS);
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(LIMIT_MS);
      Announcement peer = Announcement.receive(socket);
      if (!peer.engine().equals(own.device().info().engine())) {
        throw new VerbsException(
            "connect",
            String.format(
                Locale.ROOT,
                "the peer uses engine %s, this host %s",
                peer.engine(),
                own.device().info().engine()));
      }
      pair = AddressPair.of(own.choice().addresses(), peer.addresses());
      tcp = new TcpMeter(socket);
      read = connect(own, pair);
    } catch (IOException | VerbsException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  private static ReadMeter connect(OpenDevice own, AddressPair pair) throws VerbsException {
    ReadMeter meter = new ReadMeter(own.device());
    try {
      meter.connect(pair);
      return meter;
    } catch (VerbsException | RuntimeException e) {
      meter.close();
      throw e;
    }
  }

  /** The addresses of the RDMA connection. */
  public AddressPair pair() {
    return pair;
  }

  /**
   * Measures all sizes, READ and TCP in turn.
   *
   * @param progress receives what is being measured, in words
   */
  public List<Row> run(PerfPlan plan, Consumer<String> progress)
      throws IOException, VerbsException {
    try {
      return measureAll(plan, progress);
    } catch (VerbsException e) {
      try {
        tcp.peerCpuNs();
      } catch (IOException gone) {
        gone.addSuppressed(e);
        throw new IOException("perf server has ended during the measurement", gone);
      }
      throw e;
    }
  }

  private List<Row> measureAll(PerfPlan plan, Consumer<String> progress)
      throws IOException, VerbsException {
    List<Row> rows = new ArrayList<>();
    for (int lengthBytes : plan.sizesBytes()) {
      progress.accept("READ of " + lengthBytes + " bytes");
      Measurement ofRead = measure(read, lengthBytes, plan);
      progress.accept("TCP of " + lengthBytes + " bytes");
      rows.add(new Row(lengthBytes, ofRead, measure(tcp, lengthBytes, plan)));
    }
    return rows;
  }

  private Measurement measure(Meter meter, int lengthBytes, PerfPlan plan)
      throws IOException, VerbsException {
    // Compiles the loops, and registers or connects what is used first.
    meter.latenciesNs(lengthBytes, WARM_UP_TRANSFERS);
    long[] timesNs = meter.latenciesNs(lengthBytes, SINGLE_TRANSFERS);
    long serverNs = tcp.peerCpuNs();
    long clientNs = CpuTime.ofThisProcessNs();
    Meter.Speed speed = meter.speed(lengthBytes, plan.atOnce(), plan.duration().toNanos());
    double gib = speed.bytes() / GIB;
    return new Measurement(
        speed.bytesPerSecond(),
        timesNs[timesNs.length / 2],
        timesNs[timesNs.length * P99 / 100],
        (CpuTime.ofThisProcessNs() - clientNs) / gib,
        (tcp.peerCpuNs() - serverNs) / gib);
  }

  @Override
  public void close() {
    tcp.close();
    read.close();
  }
}
