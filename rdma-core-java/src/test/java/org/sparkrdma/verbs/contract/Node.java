// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * One end of a test: an open device with one object of each kind. Confined to the test's thread.
 */
public final class Node implements AutoCloseable {
  public static final int DEPTH = 64;
  public static final Set<AccessFlag> SINK = Set.of(AccessFlag.LOCAL_WRITE);
  public static final Set<AccessFlag> READABLE =
      Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
  public static final Set<AccessFlag> ALL =
      Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
  public static final Set<AccessFlag> REMOTE =
      Set.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);

  public final Device device;
  public final ProtectionDomain domain;
  public final CompletionChannel channel;
  public final CompletionQueue queue;
  public final ConnectionManager manager;
  public final Deque<ConnectionEvent> events = new ArrayDeque<>();
  public final Deque<Result> results = new ArrayDeque<>();
  private boolean closed;

  /** An end on a device that is open. */
  public Node(Device device) throws VerbsException {
    this.device = device;
    domain = device.allocateProtectionDomain();
    channel = device.createCompletionChannel();
    queue = device.createCompletionQueue(16 * DEPTH, channel);
    manager = device.createConnectionManager(channel);
  }

  /** Opens the device that has the address, or the first one. */
  public static Node open(VerbsEngine engine, InetAddress address) throws VerbsException {
    List<DeviceInfo> devices = engine.devices();
    return new Node(
        engine.open(
            devices.stream()
                .filter(device -> hasAddress(device, address))
                .findFirst()
                .orElse(devices.get(0))));
  }

  private static boolean hasAddress(DeviceInfo device, InetAddress address) {
    return device.ports().stream().anyMatch(port -> port.addresses().contains(address));
  }

  public QueuePairSettings settings() {
    return settings(REMOTE);
  }

  /** Settings with that access of the peer. */
  public QueuePairSettings settings(Set<AccessFlag> access) {
    return new QueuePairSettings(queue, queue, DEPTH, DEPTH, 4, access);
  }

  public Listener listen(EngineUnderTest engine) throws VerbsException {
    return manager.listen(new InetSocketAddress(engine.address(), 0), 16);
  }

  public Connection resolve(InetSocketAddress remote) throws VerbsException {
    return manager.resolve(remote, null, VerbsContract.ANSWER_TIMEOUT);
  }

  /** Allocates and registers memory filled with one byte value. */
  public Block block(int lengthBytes, int fill, Set<AccessFlag> access) throws VerbsException {
    HostMemory memory = device.allocate(lengthBytes);
    byte[] bytes = new byte[lengthBytes];
    Arrays.fill(bytes, (byte) fill);
    memory.slice(0, lengthBytes).put(bytes);
    return new Block(memory, domain.register(memory, 0, lengthBytes, access));
  }

  /** Polls events and completions; true when there was any. */
  public boolean poll() {
    if (closed) {
      return false;
    }
    int before = events.size() + results.size();
    for (ConnectionEvent e = manager.pollEvent(); e != null; e = manager.pollEvent()) {
      events.add(e);
    }
    queue.poll(Integer.MAX_VALUE, completion -> results.add(Result.of(completion)));
    return events.size() + results.size() > before;
  }

  /** Polls completions only; returns their number. */
  public int pollQueue() {
    return queue.poll(Integer.MAX_VALUE, completion -> results.add(Result.of(completion)));
  }

  @Override
  public void close() {
    closed = true;
    device.close();
  }

  /** Memory and one region over the whole of it. */
  public record Block(HostMemory memory, MemoryRegion region) {
    public byte[] bytes() {
      return bytes(0, (int) memory.lengthBytes());
    }

    public byte[] bytes(int offset, int length) {
      byte[] bytes = new byte[length];
      memory.slice(offset, length).get(bytes);
      return bytes;
    }

    /** A signalled READ that fills this block. */
    public WorkRequest readFrom(long id, MemoryRegion remote) {
      return read(id, remote, 0, 0, (int) region.lengthBytes());
    }

    /** A signalled READ of a part of a region into a part of this block. */
    public WorkRequest read(long id, MemoryRegion remote, long from, long to, int lengthBytes) {
      return new WorkRequest(1)
          .read(id, remote.address() + from, remote.remote().remoteKey())
          .local(region, to, lengthBytes)
          .signalled();
    }

    /** A WRITE of this block to the beginning of a region. */
    public WorkRequest writeTo(long id, MemoryRegion remote) {
      return new WorkRequest(1)
          .write(id, remote.address(), remote.remote().remoteKey())
          .local(region, 0, (int) region.lengthBytes());
    }

    public WorkRequest send(long id) {
      return new WorkRequest(1).send(id).local(region, 0, (int) region.lengthBytes()).signalled();
    }

    public WorkRequest receive(long id) {
      return new WorkRequest(1).receive(id).local(region, 0, (int) region.lengthBytes());
    }
  }
}
