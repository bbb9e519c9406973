// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.TransportType;
import org.sparkrdma.verbs.engine.EngineChannel;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineDevice;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.engine.KernelDriver;
import org.sparkrdma.verbs.soft.shared.FileLinks;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.KeyAllocator;
import org.sparkrdma.verbs.soft.shared.ProcessIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * An open soft device, with what its objects share. Safe for any thread, except {@link #peers},
 * which the lock of the loop guards.
 */
final class SoftDevice extends EngineDevice {
  static final String NAME = "soft0";

  private static final Logger LOG = LoggerFactory.getLogger(SoftDevice.class);

  private static final long MAX_MESSAGE_BYTES = 1L << 30;

  private static final int MAX_QUEUE_PAIR_DEPTH = 16_384;
  private static final int MAX_SGE = 16;
  private static final int MAX_COMPLETION_QUEUE_DEPTH = 1 << 20;
  private static final int MAX_READS_IN_FLIGHT = 16;
  private static final int MTU_BYTES = 4_096;
  private static final long FIRST_ADDRESS = 0x1000_0000_0000L;

  /** Least time between two collections. */
  private static final long COLLECTION_PAUSE_NS = 10_000_000_000L;

  private static final long FIRST_WAIT_NS = 5_000_000;
  private static final int WAITS = 4;
  private static final long PAGE_BYTES = 4_096;

  final SoftSettings settings;
  final HostIdentity host;
  final SharedDirectory directory;
  final SharedTable table;
  final FileLinks links;
  final KeyAllocator regionKeys;
  final KeyAllocator queuePairNumbers = KeyAllocator.ofQueuePairs();
  final FaultPlan faults;
  final DeviceLoop loop;
  final RemoteDevices peers;

  /** False leaves the data of READs out, see {@link SoftProvider#loadWithoutCopy}. */
  final boolean copiesReads;

  private final AtomicLong nextAddress = new AtomicLong(FIRST_ADDRESS);
  private final AtomicLong collectedNs = new AtomicLong(System.nanoTime() - COLLECTION_PAUSE_NS);
  private final AtomicBoolean shortageReported = new AtomicBoolean();
  private int nextDomainId = 1;

  private SoftDevice(
      SoftSettings settings,
      HostIdentity host,
      SharedDirectory directory,
      boolean copiesReads,
      ThreadFactory threads,
      Consumer<Device> onClosed)
      throws IOException, VerbsException {
    super(info(host), KernelDriver.OTHER, 0, onClosed);
    this.settings = settings;
    this.host = host;
    this.directory = directory;
    this.copiesReads = copiesReads;
    var random = new SecureRandom();
    byte[] secret = new byte[SharedTable.SECRET_BYTES];
    random.nextBytes(secret);
    table = SharedTable.create(directory.path().resolve(SharedDirectory.TABLE), secret);
    links = new FileLinks(directory);
    regionKeys = KeyAllocator.ofRegions(random.nextLong());
    faults = FaultPlan.parse(settings.faults());
    loop = new DeviceLoop("soft-rdma-" + NAME, table, threads, this::onLoopFailed);
    peers = new RemoteDevices(this);
  }

  /**
   * Creates a directory with a table, which peers see, and starts the helper. Leaves nothing where
   * it fails, because the device may be opened again.
   *
   * @param threads creates the helper
   */
  static SoftDevice open(
      SoftSettings settings,
      HostIdentity host,
      boolean copiesReads,
      ThreadFactory threads,
      Consumer<Device> onClosed)
      throws VerbsException {
    SharedDirectory directory = null;
    SoftDevice device = null;
    boolean started = false;
    try {
      directory = SharedDirectory.create(settings.directory(), host, ProcessIdentity.self());
      device = new SoftDevice(settings, host, directory, copiesReads, threads, onClosed);
      device.loop.start();
      started = true;
      return device;
    } catch (IOException | VerbsException e) {
      throw new VerbsException(
          "ibv_open_device",
          "ibv_open_device failed: " + e.getMessage() + " directory=" + settings.directory(),
          e);
    } finally {
      if (!started && device != null) {
        device.closeDevice();
      } else if (!started && directory != null) {
        directory.close();
      }
    }
  }

  /** Takes a page-aligned range that was never used before, with an unused page behind it. */
  long takeAddresses(long lengthBytes) {
    long pages = (lengthBytes + PAGE_BYTES - 1) / PAGE_BYTES + 1;
    return nextAddress.getAndAdd(pages * PAGE_BYTES);
  }

  /**
   * Peers' access was taken back.
   *
   * @param ended false when a stopped peer may still write into memory, whose owner will use it
   *     again: then the device fails
   */
  void onRetired(boolean ended) {
    if (!ended) {
      loop.abandon("a peer is stopped while it writes into memory of this process");
    }
  }

  private void onLoopFailed() {
    offerDown("the soft device failed; the log has the cause");
  }

  @Override
  protected EngineMemory newMemory(long lengthBytes) throws VerbsException {
    return SoftMemory.allocate(this, lengthBytes);
  }

  /**
   * Closed memory is unmapped only when the collector has found that no slice of it is reachable. A
   * collection stops the process, so there is at most one in a few seconds; other allocations fail
   * at once.
   */
  @Override
  protected boolean awaitFreedMemory(int refusals) {
    if (refusals == 1 ? collect() : refusals <= WAITS) {
      LockSupport.parkNanos(FIRST_WAIT_NS << (refusals - 1));
      return true;
    }
    if (!shortageReported.getAndSet(true)) {
      LOG.warn(
          "Shared memory is short, so blocks without memory are fetched over TCP: directory={}"
              + " totalBytes={} freeBytes={}: enlarge it (--shm-size of a container, an emptyDir of"
              + " medium Memory in Kubernetes), or name another tmpfs with soft.directory",
          settings.directory(),
          settings.directory().toFile().getTotalSpace(),
          settings.directory().toFile().getUsableSpace());
    }
    return false;
  }

  private boolean collect() {
    long now = System.nanoTime();
    long last = collectedNs.get();
    if (!SoftMemory.anyClosed
        || now - last < COLLECTION_PAUSE_NS
        || !collectedNs.compareAndSet(last, now)) {
      return false;
    }
    SoftMemory.anyClosed = false;
    System.gc();
    return true;
  }

  @Override
  protected EngineProtectionDomain newProtectionDomain() {
    return new SoftProtectionDomain(this, nextDomainId++);
  }

  @Override
  protected SoftChannel newChannel() {
    return new SoftChannel(this);
  }

  @Override
  protected EngineCompletionQueue newCompletionQueue(
      int capacity, EngineChannel channel, int vector) {
    return new SoftCompletionQueue(this, capacity, (SoftChannel) channel);
  }

  @Override
  protected EngineConnectionManager newConnectionManager(EngineChannel channel) {
    return new SoftConnectionManager(this, (SoftChannel) channel);
  }

  @Override
  protected void closeDevice() {
    loop.stop();
    directory.close();
  }

  // Facts of the device.

  static DeviceInfo info(HostIdentity host) throws VerbsException {
    var capabilities = EnumSet.allOf(Capability.class);
    capabilities.remove(Capability.ACK_TIMEOUT);
    capabilities.remove(Capability.TRAFFIC_CLASS);
    capabilities.remove(Capability.READ_DEPTH);
    List<Gid> gids = gids();
    var port =
        new PortInfo(
            1, PortState.ACTIVE, MTU_BYTES, gids, gids.stream().map(Gid::address).toList());
    return new DeviceInfo(
        NAME,
        SoftProvider.NAME,
        TransportType.LOOPBACK,
        host.bootId().getMostSignificantBits(),
        limits(),
        capabilities,
        List.of(port));
  }

  private static DeviceLimits limits() {
    return new DeviceLimits(
        SharedTable.QUEUE_PAIRS,
        MAX_QUEUE_PAIR_DEPTH,
        MAX_SGE,
        MAX_SGE,
        MAX_COMPLETION_QUEUE_DEPTH,
        SharedTable.REGIONS,
        Long.MAX_VALUE,
        MAX_MESSAGE_BYTES,
        MAX_READS_IN_FLIGHT,
        LinkHello.MAX_PRIVATE_DATA_BYTES,
        1);
  }

  private static List<Gid> gids() throws VerbsException {
    try {
      List<Gid> gids = new ArrayList<>();
      NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .forEach((InetAddress at) -> gids.add(new Gid(gids.size(), GidType.LOOPBACK, at)));
      return gids;
    } catch (SocketException e) {
      throw new VerbsException("ibv_query_gid", "no addresses: " + e.getMessage(), e);
    }
  }
}
