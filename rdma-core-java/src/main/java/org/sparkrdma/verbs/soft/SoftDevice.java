/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.OpenResources;
import org.sparkrdma.verbs.engine.LimitChecks;
import org.sparkrdma.verbs.soft.faults.FaultPlan;
import org.sparkrdma.verbs.soft.faults.Network;
import org.sparkrdma.verbs.soft.shared.FileLinks;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.ProcessIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * An open soft device: its directory, its table, its thread, and all that was made on it.
 *
 * <p>Safe for any thread, but for what is marked as the device thread's.
 */
final class SoftDevice implements Device {
  static final long MAX_MESSAGE_BYTES = 1L << 30;

  private final SoftSettings settings;
  private final HostIdentity host;
  private final ProcessIdentity self;
  private final DeviceInfo info;
  private final Consumer<SoftDevice> onClose;
  private final SharedDirectory directory;
  private final SharedTable table;
  private final RegionRegistry regions;
  private final FileLinks links;
  private final QueuePairNumbers queuePairNumbers = new QueuePairNumbers();
  private final AddressSpace addresses = new AddressSpace();
  private final FaultPlan faults;
  private final DeviceThread thread;

  // The device thread's.
  private final Network network;
  private final OneSided oneSided = new OneSided();
  private final Peers peers;
  private final Set<Endpoint> endpoints = new HashSet<>();
  private DeviceThread.Timer peerCheck;

  // What is open on it.
  private final Set<SoftProtectionDomain> domains = ConcurrentHashMap.newKeySet();
  private final Set<SoftMemory> memories = ConcurrentHashMap.newKeySet();
  private final Set<SoftCompletionChannel> channels = ConcurrentHashMap.newKeySet();
  private final Set<SoftCompletionQueue> completionQueues = ConcurrentHashMap.newKeySet();
  private final Set<SoftConnectionManager> managers = ConcurrentHashMap.newKeySet();
  private int nextDomainId = 1;
  private volatile boolean closedMemory;
  private boolean closed;

  private SoftDevice(
      SoftSettings settings,
      HostIdentity host,
      ProcessIdentity self,
      Consumer<SoftDevice> onClose,
      SharedDirectory directory)
      throws IOException, VerbsException {
    this.settings = settings;
    this.host = host;
    this.self = self;
    this.onClose = onClose;
    this.directory = directory;
    info = SoftDeviceFacts.info(settings, host);
    var random = new SecureRandom();
    byte[] secret = new byte[SharedTable.SECRET_BYTES];
    random.nextBytes(secret);
    table = SharedTable.create(directory.path().resolve(SharedDirectory.TABLE), secret);
    regions = new RegionRegistry(table, random.nextLong());
    links = new FileLinks(directory, host.userId());
    faults = FaultPlan.parse(settings.faults());
    network = new Network(settings.latencyNs(), settings.bytesPerSecond(), faults);
    peers = new Peers(directory, self, settings.maxOpenFiles());
    thread = new DeviceThread("soft-rdma-" + SoftDeviceFacts.NAME);
  }

  static SoftDevice open(SoftSettings settings, HostIdentity host, Consumer<SoftDevice> onClose)
      throws VerbsException {
    SharedDirectory directory = null;
    try {
      ProcessIdentity self = ProcessIdentity.self();
      directory = SharedDirectory.create(settings.directory(), host, self);
      var device = new SoftDevice(settings, host, self, onClose, directory);
      device.thread.start();
      return device;
    } catch (IOException | VerbsException e) {
      if (directory != null) {
        directory.close();
      }
      throw new VerbsException(
          "ibv_open_device",
          "ibv_open_device failed: " + e.getMessage() + " directory=" + settings.directory(),
          e);
    }
  }

  @Override
  public DeviceInfo info() {
    return info;
  }

  @Override
  public OpenResources openResources() {
    return new OpenResources(
        domains.size(),
        memories.size(),
        domains.stream().mapToInt(SoftProtectionDomain::regionCount).sum(),
        channels.size(),
        completionQueues.size(),
        domains.stream().mapToInt(SoftProtectionDomain::queuePairCount).sum(),
        managers.size(),
        managers.stream().mapToInt(SoftConnectionManager::listenerCount).sum(),
        managers.stream().mapToInt(SoftConnectionManager::connectionCount).sum());
  }

  @Override
  public synchronized HostMemory allocate(long lengthBytes) throws VerbsException {
    checkOpen();
    LimitChecks.checkMemory(lengthBytes);
    SoftMemory memory = SoftMemory.allocate(this, lengthBytes);
    memories.add(memory);
    return memory;
  }

  @Override
  public synchronized ProtectionDomain allocateProtectionDomain() {
    checkOpen();
    var domain = new SoftProtectionDomain(this, nextDomainId++);
    domains.add(domain);
    return domain;
  }

  @Override
  public synchronized CompletionChannel createCompletionChannel() {
    checkOpen();
    var channel = new SoftCompletionChannel(this);
    channels.add(channel);
    return channel;
  }

  @Override
  public synchronized CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel)
      throws VerbsException {
    checkOpen();
    LimitChecks.checkCompletionQueue(capacity, info.limits());
    var queue = new SoftCompletionQueue(this, capacity, mine(channel));
    completionQueues.add(queue);
    return queue;
  }

  @Override
  public synchronized ConnectionManager createConnectionManager(CompletionChannel channel) {
    checkOpen();
    if (channel == null) {
      throw new IllegalArgumentException("a connection manager needs a channel");
    }
    var manager = new SoftConnectionManager(this, mine(channel));
    managers.add(manager);
    return manager;
  }

  private SoftCompletionChannel mine(CompletionChannel channel) {
    if (channel != null && !channels.contains(channel)) {
      throw new IllegalArgumentException("a channel of another device, or a closed one");
    }
    return (SoftCompletionChannel) channel;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("device is closed");
    }
  }

  void forget(SoftMemory memory) {
    closedMemory = true;
    memories.remove(memory);
  }

  /** Whether memory was closed that may still be mapped. */
  boolean hasClosedMemory() {
    return closedMemory;
  }

  void forget(SoftProtectionDomain domain) {
    domains.remove(domain);
  }

  void forget(SoftCompletionChannel channel) {
    channels.remove(channel);
  }

  void forget(SoftCompletionQueue queue) {
    completionQueues.remove(queue);
  }

  void forget(SoftConnectionManager manager) {
    managers.remove(manager);
  }

  SoftSettings settings() {
    return settings;
  }

  HostIdentity host() {
    return host;
  }

  ProcessIdentity self() {
    return self;
  }

  SharedDirectory directory() {
    return directory;
  }

  SharedTable table() {
    return table;
  }

  RegionRegistry regions() {
    return regions;
  }

  FileLinks links() {
    return links;
  }

  QueuePairNumbers queuePairNumbers() {
    return queuePairNumbers;
  }

  AddressSpace addresses() {
    return addresses;
  }

  FaultPlan faults() {
    return faults;
  }

  DeviceThread thread() {
    return thread;
  }

  // The device thread's.

  Network network() {
    return network;
  }

  OneSided oneSided() {
    return oneSided;
  }

  Peers peers() {
    return peers;
  }

  /** All that have a socket. */
  Set<Endpoint> endpoints() {
    return endpoints;
  }

  /** Looks after the processes of the peers from time to time, while there are any. */
  void watchPeers() {
    if (peerCheck == null) {
      peerCheck = thread.schedule(System.nanoTime() + settings.peerCheckNs(), this::checkPeers);
    }
  }

  private void checkPeers() {
    peerCheck = null;
    for (Peer dead : peers.check()) {
      for (Endpoint endpoint : List.copyOf(endpoints)) {
        if (endpoint.peer() == dead) {
          endpoint.onEnded("the peer's process is gone: pid=" + dead.process.pid());
        }
      }
    }
    if (!peers.isEmpty()) {
      watchPeers();
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    managers.forEach(SoftConnectionManager::close);
    completionQueues.forEach(SoftCompletionQueue::close);
    domains.forEach(SoftProtectionDomain::closeAll);
    memories.forEach(SoftMemory::close);
    channels.forEach(SoftCompletionChannel::close);
    thread.call(() -> List.copyOf(endpoints).forEach(Endpoint::closeNow));
    thread.stop();
    links.close();
    directory.close();
    onClose.accept(this);
  }
}
