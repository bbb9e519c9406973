// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.Transport;

/** A server without a thread, on fakes, with a manual clock; closing checks for leaks. */
final class ServerFixture implements AutoCloseable {
  static final Duration LEASE = Duration.ofSeconds(10);
  static final Duration IDLE = Duration.ofMinutes(1);
  static final int WINDOW = 64 << 10;
  static final int SLOT = 16 << 10;

  final FakeDomain domain;
  final FakeDevice device;
  final FakeMapOutputs outputs;
  final PinnedBudget budget;
  final ShuffleCounters counters = new ShuffleCounters();
  final List<Long> expiredPeers = new ArrayList<>();
  final BlockServer server;
  private final ByteBuffer request = ByteBuffer.allocateDirect(64 << 10);
  private final ByteBuffer answer;
  private int clockReadings;
  private long nowNs = Long.MAX_VALUE - 1_000_000; // close to where nanoTime may wrap

  private ServerFixture(
      Path folder, ServeSettings settings, long budgetBytes, FakeDevice device, int messageBytes) {
    this(folder, settings, budgetBytes, device, messageBytes, new FakeDomain(), System::nanoTime);
  }

  private ServerFixture(
      Path folder,
      ServeSettings settings,
      long budgetBytes,
      FakeDevice device,
      int messageBytes,
      FakeDomain domain,
      LongSupplier probeClock) {
    this(
        folder,
        settings,
        budgetBytes,
        device,
        messageBytes,
        domain,
        probeClock,
        new SystemFiles(Path.of("/")));
  }

  private ServerFixture(
      Path folder,
      ServeSettings settings,
      long budgetBytes,
      FakeDevice device,
      int messageBytes,
      FakeDomain domain,
      LongSupplier probeClock,
      SystemFiles files) {
    this.device = device;
    this.domain = domain;
    outputs = new FakeMapOutputs(folder);
    if (domain.refusesFiles() || probeClock instanceof DeviceClock) {
      outputs.reportDirectory();
    }
    budget = new PinnedBudget(budgetBytes, FakeDomain.PAGE);
    answer = ByteBuffer.allocateDirect(messageBytes);
    server =
        new BlockServer(
            new ServerParameters(
                settings,
                outputs,
                device,
                domain,
                budget,
                counters,
                expiredPeers::add,
                Duration.ofMinutes(10),
                this::readClock),
            direct(() -> nowNs),
            probeClock,
            new StateLock(),
            files);
  }

  private long readClock() {
    clockReadings++;
    return nowNs;
  }

  /** Time by the server's clock. */
  long nowNs() {
    return nowNs;
  }

  /** Number of times that the server has read its clock. */
  int clockReadings() {
    return clockReadings;
  }

  static ServerFixture of(Path folder, ServeSettings.Mode mode, int slots, long budgetBytes) {
    return of(folder, mode, slots, budgetBytes, 16 << 10);
  }

  static ServerFixture of(
      Path folder, ServeSettings.Mode mode, int slots, long budgetBytes, int messageBytes) {
    return new ServerFixture(
        folder,
        new ServeSettings(mode, WINDOW, SLOT, slots, LEASE, 100, 1000, 100, IDLE, false, false),
        budgetBytes,
        new FakeDevice(1000, EnumSet.of(Capability.FILE_REGIONS, Capability.ON_DEMAND_PAGING)),
        messageBytes);
  }

  /** Copies out of windows that are read rarely. */
  static ServerFixture copyingFirst(Path folder, int windowBytes, long budgetBytes) {
    return new ServerFixture(
        folder,
        copyingFirst(windowBytes),
        budgetBytes,
        new FakeDevice(1000, EnumSet.of(Capability.FILE_REGIONS)),
        16 << 10);
  }

  /**
   * The same, on a device whose costs are measured when the server starts.
   *
   * @param registrationNs time of each registration with its end
   * @param copyNs time of each copy
   */
  static ServerFixture measuring(
      Path folder, int windowBytes, long budgetBytes, long registrationNs, long copyNs) {
    return measuring(
        folder,
        windowBytes,
        budgetBytes,
        registrationNs,
        copyNs,
        Transport.LOOPBACK,
        new SystemFiles(Path.of("/")));
  }

  /** The same, on a device whose registrations pin memory, under the kernel of these files. */
  static ServerFixture pinning(
      Path folder,
      int windowBytes,
      long budgetBytes,
      long registrationNs,
      long copyNs,
      SystemFiles files) {
    return measuring(
        folder, windowBytes, budgetBytes, registrationNs, copyNs, Transport.INFINIBAND, files);
  }

  private static ServerFixture measuring(
      Path folder,
      int windowBytes,
      long budgetBytes,
      long registrationNs,
      long copyNs,
      Transport transport,
      SystemFiles files) {
    DeviceClock clock = new DeviceClock(registrationNs, copyNs);
    FakeDomain domain = new FakeDomain();
    domain.beforeRegistration(file -> clock.registered());
    return new ServerFixture(
        folder,
        copyingFirst(windowBytes),
        budgetBytes,
        new FakeDevice(transport, 1000, EnumSet.of(Capability.FILE_REGIONS)),
        16 << 10,
        domain,
        clock,
        files);
  }

  private static ServeSettings copyingFirst(int windowBytes) {
    return new ServeSettings(
        ServeSettings.Mode.AUTO, windowBytes, 1 << 20, 4, LEASE, 100, 1000, 100, IDLE, true, false);
  }

  /** Between two readings a registration takes place, or else a copy. */
  private static final class DeviceClock implements LongSupplier {
    private final long registrationNs;
    private final long copyNs;
    private boolean hasRegistered;
    private long nowNs = Long.MAX_VALUE - 1_000;

    DeviceClock(long registrationNs, long copyNs) {
      this.registrationNs = registrationNs;
      this.copyNs = copyNs;
    }

    void registered() {
      hasRegistered = true;
    }

    @Override
    public long getAsLong() {
      nowNs += hasRegistered ? registrationNs : copyNs;
      hasRegistered = false;
      return nowNs;
    }
  }

  /** Files of its file system cannot be registered when the server starts. */
  static ServerFixture onRefusingFileSystem(Path folder, int slots, long budgetBytes) {
    FakeDomain refusing = new FakeDomain();
    refusing.refuseFiles(true);
    return new ServerFixture(
        folder,
        new ServeSettings(
            ServeSettings.Mode.AUTO,
            WINDOW,
            SLOT,
            slots,
            LEASE,
            100,
            1000,
            100,
            IDLE,
            false,
            false),
        budgetBytes,
        new FakeDevice(1000, EnumSet.of(Capability.FILE_REGIONS)),
        16 << 10,
        refusing,
        System::nanoTime);
  }

  static ServerFixture of(
      Path folder,
      ServeSettings settings,
      long budgetBytes,
      int maxRegions,
      Set<Capability> capabilities) {
    return new ServerFixture(
        folder, settings, budgetBytes, new FakeDevice(maxRegions, capabilities), 16 << 10);
  }

  /** One disk whose work runs at once, on the submitting thread. */
  static List<DiskQueue> direct(LongSupplier nanoClock) {
    return List.of(new DiskQueue(Runnable::run, DiskServers.THREADS, nanoClock));
  }

  void sleep(Duration time) {
    nowNs += time.toNanos();
    server.doWork();
  }

  long count(Counter counter) {
    return counters.value(counter);
  }

  /** Time passes, and the server does not notice. */
  void pass(Duration time) {
    nowNs += time.toNanos();
  }

  /** Requests blocks and releases leases. */
  Answer ask(long peer, List<Long> leases, List<Wanted> blocks) {
    Locate.Encoder encoder = new Locate.Encoder().begin(request, 77);
    leases.forEach(encoder::lease);
    blocks.forEach(
        b -> encoder.block(b.shuffleId, b.mapId, b.startReduceId, b.endReduceId, b.from, false));
    return ask(peer, request.slice(0, encoder.finish()));
  }

  Answer ask(long peer, Wanted... blocks) {
    return ask(peer, List.of(), List.of(blocks));
  }

  Answer ask(long peer, ByteBuffer message) {
    Call call = new Call(peer, message, answer);
    server.locate(call);
    server.doWork();
    assertThat(call.ends).isEqualTo(1);
    return new Answer(call, domain);
  }

  void release(long peer, long... leases) {
    server.release(peer, leases, () -> {});
    server.doWork();
  }

  void onPeerGone(long peer) {
    server.onPeerGone(peer);
    server.doWork();
  }

  @Override
  public void close() {
    server.close();
    domain.close();
    budget.close();
  }

  /** A block, or the rest of it, to locate. */
  record Wanted(int shuffleId, long mapId, int startReduceId, int endReduceId, long from) {
    static Wanted of(int shuffleId, long mapId, int startReduceId, int endReduceId) {
      return new Wanted(shuffleId, mapId, startReduceId, endReduceId, 0);
    }

    Wanted rest(long newFrom) {
      return new Wanted(shuffleId, mapId, startReduceId, endReduceId, newFrom);
    }
  }

  /** A checksum in an answer. */
  record Sum(long end, long value) {}

  /** A piece in an answer. */
  record AnswerPiece(
      int block,
      Located.Kind kind,
      long address,
      int key,
      int lengthBytes,
      long offset,
      long blockBytes,
      List<Sum> sums) {}

  /** A decoded answer. */
  static final class Answer {
    final List<AnswerPiece> pieces = new ArrayList<>();
    final String malformed;
    long leaseId;
    int remainingMs;
    boolean heldBack;
    private final FakeDomain domain;

    Answer(Call call, FakeDomain domain) {
      this.domain = domain;
      malformed = call.reason;
      if (call.reason == null) {
        decode(new Located.Decoder().begin(call.answer().slice(0, call.lengthBytes)));
      }
    }

    private void decode(Located.Decoder in) {
      assertThat(in.requestId()).isEqualTo(77);
      assertThat(in.checksumKind()).isEqualTo(1);
      leaseId = in.leaseId();
      remainingMs = in.leaseRemainingMs();
      while (in.nextPiece()) {
        heldBack |= in.isHeldBack();
        List<Sum> sums = new ArrayList<>();
        for (int i = 0; i < in.sumCount(); i++) {
          sums.add(new Sum(in.sumEnd(i), in.sum(i)));
        }
        pieces.add(
            new AnswerPiece(
                in.blockIndex(),
                in.kind(),
                in.address(),
                in.remoteKey(),
                in.lengthBytes(),
                in.blockOffset(),
                in.blockBytes(),
                sums));
      }
    }

    List<Located.Kind> kinds() {
      return pieces.stream().map(AnswerPiece::kind).toList();
    }

    byte[] read(int piece) throws IOException {
      AnswerPiece located = pieces.get(piece);
      return domain.read(located.address, located.key, located.lengthBytes);
    }

    boolean isReadable(int piece) {
      AnswerPiece located = pieces.get(piece);
      return domain.isReadable(located.address, located.key, located.lengthBytes);
    }
  }

  private static final class Call extends TestLocateCall {
    private int ends;
    private int lengthBytes;
    private String reason;

    Call(long peer, ByteBuffer request, ByteBuffer answer) {
      super(peer, request, answer);
    }

    @Override
    public void answered(int newLengthBytes) {
      ends++;
      lengthBytes = newLengthBytes;
    }

    @Override
    public void malformed(String newReason) {
      ends++;
      reason = newReason;
    }
  }
}
