// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.address.AddressPair;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.tools.engines.ProbedDevice;
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

  /** Maximum length of a transfer: a peer shares no more memory. */
  public static final int MAX_BYTES = SharedRegion.BYTES;

  /** Maximum time for the speed of one size in one way: a server ends silent clients. */
  public static final long MAX_NS = TimeUnit.SECONDS.toNanos(30);

  private static final int POSTERS = 4;
  private static final int PRICED_BYTES = 4_096;

  /** Transfers in flight while speed is measured. */
  private static final int AT_ONCE = 16;

  private final TcpMeter tcp;
  private final ReadMeter read;
  private final AddressPair pair;
  private final long setUpNs;

  /**
   * Figures of one size.
   *
   * @param bytes of each transfer
   */
  public record Row(int bytes, Measurement read, Measurement tcp) {}

  /**
   * Figures of one way of transfer at one size. CPU times are those of whole processes, for each
   * GiB that was transferred.
   *
   * @param bytesPerSecond of several transfers at the same time
   * @param medianNs time of one transfer alone
   * @param p99Ns time that 99 % of single transfers do not exceed
   * @param clientCpuNsPerGib CPU time here
   * @param serverCpuNsPerGib CPU time of the process at the other end
   */
  public record Measurement(
      double bytesPerSecond,
      long medianNs,
      long p99Ns,
      double clientCpuNsPerGib,
      double serverCpuNsPerGib) {}

  /**
   * Connects by TCP and by RDMA.
   *
   * @param own the device of this host; closed by the caller, after this
   * @throws IOException when TCP does not reach the peer, or another program answers
   * @throws VerbsException when RDMA does not reach it
   */
  public PerfClient(ProbedDevice own, String host, int port) throws IOException, VerbsException {
    Announcement.Connected connected = Announcement.connect(host, port, LIMIT_MS);
    try {
      Announcement peer = connected.announcement();
      if (!peer.engine().equals(own.device().info().engine())) {
        throw new VerbsException("connect", "the peer uses engine " + peer.engine());
      }
      pair = AddressPair.of(own.choice().addresses(), peer.addresses());
      tcp = new TcpMeter(connected.socket());
      read = new ReadMeter(own.device());
      long beganNs = System.nanoTime();
      setUpNs = read.connect(pair) - beganNs;
    } catch (IOException | VerbsException | RuntimeException e) {
      connected.socket().close();
      throw e;
    }
  }

  /** The addresses of the RDMA connection. */
  public AddressPair pair() {
    return pair;
  }

  /**
   * Measures READ and TCP in turn.
   *
   * @param lengths of transfers, from 1 to {@link #MAX_BYTES}
   * @param durationNs time for the speed of one size in one way, at most {@link #MAX_NS}
   */
  public List<Row> run(List<Integer> lengths, long durationNs) throws IOException, VerbsException {
    List<Row> rows = new ArrayList<>();
    try {
      for (int lengthBytes : lengths) {
        Measurement ofRead = measure(read, lengthBytes, durationNs);
        rows.add(new Row(lengthBytes, ofRead, measure(tcp, lengthBytes, durationNs)));
      }
    } catch (VerbsException e) {
      // Throws when the peer has ended.
      tcp.peerCpuNs();
      throw e;
    }
    return rows;
  }

  /**
   * Measures what the device costs besides.
   *
   * @param directory where files are written and registered
   * @param durationNs as for {@link #run}
   */
  public CardPrices prices(Path directory, long durationNs) throws IOException, VerbsException {
    List<CardPrices.Registration> registrations = new ArrayList<>();
    String notMeasured = "";
    try {
      read.registrations(directory, new SystemFiles(Path.of("/")), registrations);
    } catch (VerbsException e) {
      notMeasured = e.getMessage();
    } catch (IOException e) {
      // Its message may be only a path.
      notMeasured = "no file can be written there: " + e.getClass().getSimpleName();
    }
    return new CardPrices(
        setUpNs,
        registrations,
        notMeasured,
        read.postNs(1),
        read.postNs(POSTERS),
        read.speed(PRICED_BYTES, 1, durationNs).bytesPerSecond() / PRICED_BYTES,
        read.speed(PRICED_BYTES, AT_ONCE, durationNs).bytesPerSecond() / PRICED_BYTES);
  }

  private Measurement measure(Meter meter, int lengthBytes, long durationNs)
      throws IOException, VerbsException {
    // Compiles the loops, and registers or connects what is used first.
    meter.latenciesNs(lengthBytes, WARM_UP_TRANSFERS);
    long[] timesNs = meter.latenciesNs(lengthBytes, SINGLE_TRANSFERS);
    long serverNs = tcp.peerCpuNs();
    long clientNs = cpuNs();
    Meter.Speed speed = meter.speed(lengthBytes, AT_ONCE, durationNs);
    double gib = speed.bytes() / GIB;
    return new Measurement(
        speed.bytesPerSecond(),
        timesNs[timesNs.length / 2],
        timesNs[timesNs.length * P99 / 100],
        (cpuNs() - clientNs) / gib,
        (tcp.peerCpuNs() - serverNs) / gib);
  }

  /** The time that all threads of this process have used so far, in nanoseconds. */
  static long cpuNs() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }

  @Override
  public void close() {
    tcp.close();
    read.close();
  }
}
